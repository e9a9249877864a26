import type { AppError } from '@croft/protocol';
import type { Workspace } from '../../workspace/workspace.ts';
import { badPatternError, hasSyntaxError, isSeveralStatements } from './explain-ast-grep-failure.ts';
import type { PatternMatch } from './pattern-match.ts';
import { runAstGrep } from './run-ast-grep.ts';

interface PatternSearch {
  /** Exactly one of `pattern` and `rule`; a rule needs a language. */
  readonly pattern?: string | undefined;
  readonly rule?: Readonly<Record<string, unknown>> | undefined;
  readonly language?: string | undefined;
  /** Code to put in place of each match, with the names of the pattern. */
  readonly rewrite?: string | undefined;
  /** File or directory to search, from the root, with links resolved. */
  readonly scope: string;
  readonly limit: number;
  readonly signal: AbortSignal;
}

interface PatternSearchResult {
  /** Sorted by path, then by place in the file. */
  readonly matches: readonly PatternMatch[];
  readonly isComplete: boolean;
  /** Notes for the reader: why nothing was found, or what was left out. */
  readonly notes: readonly string[];
}

/** Languages in which statements between braces are a block. */
const bracedLanguages = new Set([
  ...['c', 'cpp', 'c++', 'cc', 'csharp', 'cs', 'c#', 'go', 'golang', 'java', 'javascript', 'js', 'jsx', 'kotlin', 'kt'],
  ...['php', 'rust', 'rs', 'scala', 'swift', 'tsx', 'typescript', 'ts'],
]);

/** Code around a call, in languages whose grammars take a call without any for a type or a macro. */
const aroundCalls: Readonly<Record<string, readonly [before: string, after: string]>> = {
  ...{ go: ['func _() { ', ' }'], golang: ['func _() { ', ' }'] },
  ...{
    c: ['void _() { ', '; }'],
    cpp: ['void _() { ', '; }'],
    'c++': ['void _() { ', '; }'],
    cc: ['void _() { ', '; }'],
  },
};

/**
 * Finds code by its structure. A pattern of several statements finds the blocks that have them in a row, and a call that
 * the grammar takes for something else is read again as a call.
 */
export async function searchByPattern(workspace: Workspace, search: PatternSearch): Promise<PatternSearchResult> {
  try {
    const found = await searchOnce(workspace, search);
    const call = found.matches.length === 0 ? toCallRule(search) : undefined;
    const calls = call && (await searchOnce(workspace, { ...search, pattern: undefined, rule: call }));
    return calls && calls.matches.length > 0 ? calls : found;
  } catch (thrown) {
    if (search.pattern === undefined || !isSeveralStatements(thrown)) throw thrown;
    return await searchBlocks(workspace, { ...search, pattern: search.pattern });
  }
}

function toCallRule({ pattern, language = '' }: PatternSearch): PatternSearch['rule'] {
  const [before, after] = aroundCalls[language.toLowerCase()] ?? [];
  if (before === undefined || pattern === undefined || !/^[\w.$:>-]+\([\s\S]*\)$/.test(pattern.trim()))
    return undefined;
  return { pattern: { context: `${before}${pattern.trim()}${after}`, selector: 'call_expression' } };
}

async function searchBlocks(workspace: Workspace, search: PatternSearch & { readonly pattern: string }) {
  // A rewrite would take the place of the whole block.
  if (search.rewrite !== undefined) throw badPatternError('the pattern is several statements, and has to be one');
  if (search.language !== undefined && !bracedLanguages.has(search.language.toLowerCase()))
    throw badPatternError('the pattern is several statements; pass one of them, or a rule with precedes or follows');
  const several = 'The pattern is several statements: the matches are the blocks that have them in a row.';
  const found = await searchOnce(workspace, { ...search, pattern: `{\n$$$\n${search.pattern}\n$$$\n}` });
  return { ...found, notes: [several, ...found.notes] };
}

async function searchOnce(workspace: Workspace, search: PatternSearch): Promise<PatternSearchResult> {
  const matches: PatternMatch[] = [];
  const { said, skipped } = await runAstGrep(workspace, {
    ...{ args: toArguments(search), scope: search.scope, signal: search.signal },
    onMatch(match) {
      // One match more than the limit shows that there are more.
      return matches.push(match) <= search.limit;
    },
  });
  if (matches.length === 0 && hasSyntaxError(said)) throw await explainSyntaxError(workspace, search);
  const isCut = matches.length > search.limit;
  return {
    matches: matches.slice(0, search.limit).sort(byPosition),
    isComplete: !isCut && skipped === 0,
    notes: [
      ...(isCut ? [`(more than ${search.limit} matches: narrow the pattern or path, or raise limit)`] : []),
      ...(skipped > 0 ? [`(${skipped} matches are too long to show)`] : []),
      ...(matches.length === 0 ? await describePattern(workspace, search) : []),
    ],
  };
}

function toArguments({ pattern, rule, language, rewrite }: PatternSearch): string[] {
  if (pattern === undefined)
    return ['scan', `--inline-rules=${JSON.stringify({ id: 'search', language, rule, fix: rewrite })}`];
  return [
    ...['run', `--pattern=${pattern}`],
    ...(language === undefined ? [] : [`--lang=${language}`]),
    ...(rewrite === undefined ? [] : [`--rewrite=${rewrite}`]),
  ];
}

/** Shows the tree of a pattern that found nothing: often it was parsed as something else than its writer meant. */
async function describePattern(workspace: Workspace, { pattern, language, signal }: PatternSearch): Promise<string[]> {
  if (pattern === undefined || language === undefined) return [];
  const args = ['run', `--pattern=${pattern}`, `--lang=${language}`, '--debug-query=pattern', '--stdin'];
  const { said } = await runAstGrep(workspace, { args, scope: '', signal, onMatch: () => false });
  const tree = said.split('\n').filter((line) => line !== '' && !/^(?:Warning|Help|See also):/.test(line));
  return tree.length === 0 ? [] : [`The pattern was read as:\n${tree.slice(1, 30).join('\n')}`];
}

async function explainSyntaxError(workspace: Workspace, search: PatternSearch): Promise<AppError> {
  const tree = await describePattern(workspace, search);
  return badPatternError(['the pattern is not valid code of its language', ...tree].join('. '));
}

function byPosition(one: PatternMatch, other: PatternMatch): number {
  return one.path < other.path ? -1 : one.path > other.path ? 1 : one.range.start - other.range.start;
}
