import type { Node, Tree } from 'web-tree-sitter';
import type { ParsedFile, SourceRange } from '../core/code/code-symbol.ts';
import { collectCaptures } from './collect-captures.ts';
import { createCommentsAndDecorators } from './comments-and-decorators.ts';
import { countWords } from './count-words.ts';
import type { Grammar } from './grammars.ts';
import { readSymbols } from './read-symbols.ts';
import type { DecodedSource } from './source-text.ts';

/** Errors beyond this are not counted: the file is not in this language. */
const maxErrors = 1000;
const maxErrorLines = 10;
const maxLiterals = 5000;

/** Reads everything out of a syntax tree that is wanted of it. `isLate` ends the work. */
export function readSyntaxTree(tree: Tree, grammar: Grammar, source: DecodedSource, isLate: () => boolean): ParsedFile {
  const { rootNode } = tree;
  const matches = grammar.query.matches(rootNode, { progressCallback: isLate });
  const captures = collectCaptures(matches);
  const trivia = createCommentsAndDecorators(source.text, captures.trivia);
  const symbols = readSymbols({ captures, trivia, source, language: grammar.language });
  const { text } = source;
  const isPlain = ({ start, end }: SourceRange) => !/[{\\]/.test(text.slice(start, end));
  const words = countWords({
    text,
    skipped: [...captures.trivia.filter(({ isComment }) => isComment), ...captures.literals.filter(isPlain)],
    keywords: grammar.keywords,
    names: new Set(symbols.map(({ name }) => name)),
  });
  const isLong = ({ start, end }: SourceRange) => text.slice(start, end).includes('\n');
  // A docstring is indented like code.
  const isText = (span: SourceRange) => isLong(span) && !captures.docstrings.has(span.start);
  const literals = [...captures.literals, ...captures.heredocs].filter(isText).slice(0, maxLiterals);
  return {
    language: grammar.language.id,
    symbols,
    words,
    literals: literals.map(({ start, end }) => source.toRange(start, end)),
    ...(rootNode.hasError ? findErrors(rootNode, isLate) : { errors: 0, errorLines: [] }),
  };
}

/** Descends only where there are errors. */
function findErrors(root: Node, isLate: () => boolean): Pick<ParsedFile, 'errors' | 'errorLines'> {
  let errors = 0;
  const errorLines: number[] = [];
  const open = [root];
  for (let node = open.pop(); node && errors < maxErrors && !isLate(); node = open.pop()) {
    const isBad = node.isError || node.isMissing;
    if (isBad) errors++;
    if (isBad && errorLines.length < maxErrorLines) errorLines.push(node.startPosition.row + 1);
    if (node.hasError) open.push(...node.children.filter((child) => child.hasError || child.isMissing).reverse());
  }
  return { errors, errorLines };
}
