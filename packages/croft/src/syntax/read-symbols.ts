import type { Node } from 'web-tree-sitter';
import { type CodeSymbol, maxSymbolsPerFile, type SymbolKind } from '../core/code/code-symbol.ts';
import type { LanguageSyntax } from '../core/code/language-syntax.ts';
import type { Captures, FoundDefinition } from './collect-captures.ts';
import type { CommentsAndDecorators } from './comments-and-decorators.ts';
import { findDefinitionBody } from './find-definition-body.ts';
import type { DecodedSource } from './source-text.ts';
import { toDocLine, toOneLine } from './to-one-line.ts';

interface SymbolSource {
  readonly captures: Captures;
  readonly trivia: CommentsAndDecorators;
  readonly source: DecodedSource;
  readonly language: LanguageSyntax;
}

const maxNameLength = 400;
/** Definitions inside of more others are left out. */
const maxDepth = 50;
/** A group of more declarations than this is never taken for a single one. */
const maxSiblings = 20;

const ofData: ReadonlySet<SymbolKind> = new Set(['field', 'property', 'constant', 'variable']);
const ofCode: ReadonlySet<SymbolKind> = new Set(['function', 'method', 'constructor', 'test']);

interface OpenContainer {
  readonly start: number;
  readonly end: number;
  readonly names: readonly string[];
  readonly kind?: SymbolKind | undefined;
}

/** Returns the definitions in the order of the file. Variables of functions do not count; functions in functions do. */
export function readSymbols(from: SymbolSource): CodeSymbol[] {
  const { definitions, scopes } = from.captures;
  const items = [
    ...definitions.map((found) => ({ found, start: found.node.startIndex, end: found.node.endIndex, name: '' })),
    ...scopes.map((scope) => ({ ...scope, found: undefined })),
  ].sort((a, b) => a.start - b.start || b.end - a.end);
  const open: OpenContainer[] = [];
  const symbols: CodeSymbol[] = [];
  for (const { found, start, end, name: scopeName } of items) {
    leaveContainers(open, start, end);
    const around: Pick<OpenContainer, 'names' | 'kind'> = open.at(-1) ?? { names: [] };
    if (around.names.length > maxDepth) continue;
    if (!found) {
      open.push({ start, end, names: [...around.names, toTypeName(scopeName)] });
      continue;
    }
    const name = toName(found.name.text);
    const containers = found.receiver === undefined ? around.names : [...around.names, ...toNames(found.receiver)];
    open.push({ start, end, names: [...containers, name], kind: found.kind });
    if (!isListed(found, name, around)) continue;
    if (symbols.push(toSymbol(found, name, containers, from)) >= maxSymbolsPerFile) break;
  }
  return symbols;
}

/** Two names of one declaration (`a, b int`) are beside each other, not inside each other. */
function leaveContainers(open: OpenContainer[], start: number, end: number): void {
  const isPast = (top: OpenContainer) => top.end <= start || (top.start === start && top.end === end);
  while (open.length > 0 && isPast(open.at(-1) as OpenContainer)) open.pop();
}

function isListed({ kind }: FoundDefinition, name: string, around: Pick<OpenContainer, 'kind'>): boolean {
  const isLocal = ofData.has(kind) && around.kind !== undefined && ofCode.has(around.kind);
  return !isLocal && name !== '' && name.length <= maxNameLength;
}

function toSymbol(
  found: FoundDefinition,
  name: string,
  containers: readonly string[],
  { captures, trivia, source, language }: SymbolSource,
): CodeSymbol {
  const { text, toRange } = source;
  const outer = findOuter(found.node, language.wrappers, text);
  const start = trivia.above(outer.startIndex);
  const declaration = trivia.afterDecorators(outer.startIndex);
  const codeEnd = outer.endIndex - (text[outer.endIndex - 1] === ';' ? 1 : 0);
  const end = toWholeEnd(text, outer.endIndex, captures);
  const body = findDefinitionBody(found, {
    declaration,
    codeEnd,
    shape: language.body,
    trivia,
    docstrings: captures.docstrings,
  });
  const signature = toOneLine(text.slice(declaration, body.signatureEnd));
  const doc = body.docstring
    ? text.slice(body.docstring.start, body.docstring.end)
    : trivia.firstComment(start, declaration);
  return {
    ...{ name, kind: found.kind, containers, signature },
    doc: doc === undefined ? undefined : toDocLine(doc),
    isExported: language.isExported({ name, signature, containers }),
    at: source.toPosition(found.name.startIndex),
    startLine: source.toPosition(start).line,
    endLine: source.toPosition(Math.max(start, end - 1)).line,
    nameRange: toRange(found.name.startIndex, found.name.endIndex),
    range: toRange(start, end),
    declarationRange: toRange(declaration, end),
    signatureRange: toRange(declaration, body.signatureEnd),
    ...(body.range && { bodyRange: toRange(body.range.start, body.range.end), bodyShape: body.shape }),
    ...(body.docstring && { docstringRange: toRange(body.docstring.start, body.docstring.end) }),
  };
}

/** Climbs to the statement that has nothing but this definition: its `export`, its `const`, its decorators. */
function findOuter(node: Node, wrappers: readonly string[], text: string): Node {
  let outer = node;
  for (let parent = outer.parent; parent && wrappers.includes(parent.type); parent = outer.parent) {
    // A group in parentheses may have more members later.
    const isGroup = text[parent.endIndex - 1] === ')' && parent.endIndex > outer.endIndex;
    if (isGroup || parent.namedChildCount > maxSiblings) break;
    const { type } = outer;
    if (parent.namedChildren.filter((child) => child.type === type).length > 1) break;
    outer = parent;
  }
  return outer;
}

/** A semicolon that follows, and a text that belongs to the last line, are part of a definition. */
function toWholeEnd(text: string, at: number, { heredocs }: Captures): number {
  const end = text[at] === ';' ? at + 1 : at;
  const newline = text.indexOf('\n', end);
  const heredoc = newline === -1 ? undefined : heredocs.find(({ start }) => start >= end && start <= newline + 1);
  return heredoc ? end + text.slice(end, heredoc.end).trimEnd().length : end;
}

/** The name of a property may be quoted. */
function toName(text: string): string {
  return text.replace(/^(['"])(.*)\1$/s, '$2');
}

/** `Vec<T>` and `&mut Foo` name the types `Vec` and `Foo`. */
function toTypeName(text: string): string {
  return text.replace(/<.*$/s, '').replace(/^[&*\s]*(?:mut\s+)?/, '');
}

/** `Shop::Cart::` names two containers. */
function toNames(receiver: string): string[] {
  return toTypeName(receiver)
    .split(/::|\./)
    .filter((name) => name !== '');
}
