import type { Workspace } from '../../workspace/workspace.ts';
import type { CodeHit, ParsedQuery } from '../ports/code-index.ts';
import type { Syntax } from '../syntax.ts';
import { type CandidateFile, findCandidateFiles } from './find-candidate-files.ts';
import { findHits, mapWithin } from './find-hits.ts';
import { parseCodeQuery } from './parse-code-query.ts';
import { compareHits, compareText, rankHits } from './rank-hits.ts';
import { pathFactor } from './score-symbol.ts';

interface CodeSearch {
  readonly query: string;
  /** File or directory to search, from the root, with links resolved. */
  readonly scope: string;
  /** Id of a language; files of others are left out. */
  readonly language?: string | undefined;
  readonly kind?: string | undefined;
  readonly limit: number;
  readonly signal: AbortSignal;
}

interface CodeSearchResult {
  readonly hits: readonly CodeHit[];
  /** How many definitions and lines answered the query, with those that are not shown. */
  readonly total: number;
  /** False when there were too many files to look at all of them. */
  readonly isComplete: boolean;
}

/** Only these many files are parsed: those with the most words of the query. */
const maxParsedFiles = 100;
const parsedAtOnce = 4;

/**
 * Answers a question about code with the definitions that fit best. The index finds them; files that it does not know as
 * they are now are read. While there is no index, and for text in quotes, ripgrep finds the files with words of the query,
 * and the best of them are parsed.
 */
export async function searchCode(workspace: Workspace, syntax: Syntax, search: CodeSearch): Promise<CodeSearchResult> {
  const query = parseCodeQuery(search.query);
  return (await searchIndex(workspace, syntax, search, query)) ?? searchFiles(workspace, syntax, search, query);
}

/** Returns `undefined` if there is no index yet, or if it finds nothing: the files have the last word. */
async function searchIndex(
  workspace: Workspace,
  syntax: Syntax,
  search: CodeSearch,
  query: ParsedQuery,
): Promise<CodeSearchResult | undefined> {
  const { scope, language, kind, limit, signal } = search;
  if (query.terms.some(({ isLiteral }) => isLiteral) || kind === 'text') return undefined;
  const known = await workspace.codeIndex?.search({ query, scope, language, kind }, signal);
  if (!known) return undefined;
  const paths = [...new Set([...known.stale, ...known.texts])].filter((path) => isWithin(path, scope));
  const read = paths.length === 0 ? [] : await readHits(workspace, syntax, { ...search, paths }, query, known.rarity);
  const hits = mergeHits(known.hits, rankHits(read, query));
  return hits.length === 0 ? undefined : { hits: hits.slice(0, limit), total: hits.length, isComplete: true };
}

/** Hits of files whose text the index does not have, or has without the lines. */
async function readHits(
  workspace: Workspace,
  syntax: Syntax,
  { paths, language, kind, signal }: CodeSearch & { readonly paths: readonly string[] },
  query: ParsedQuery,
  rarity: readonly number[],
): Promise<CodeHit[]> {
  const { files } = await findCandidateFiles(workspace, { query, scope: '', paths, signal });
  const wanted = files.filter(({ path }) => language === undefined || syntax.languageOf(path) === language);
  const hits = await mapWithin(parsedAtOnce, wanted, (file) =>
    findHits(file, { query, rarity, workspace, syntax, signal }),
  );
  return hits.flat().filter((hit) => kind === undefined || hit.kind === kind);
}

/** A definition that both have counts once, with its better score. */
function mergeHits(known: readonly CodeHit[], read: readonly CodeHit[]): CodeHit[] {
  const hits = new Map<string, CodeHit>();
  for (const hit of [...known, ...read]) {
    const key = JSON.stringify([hit.path, hit.line, hit.name]);
    if ((hits.get(key)?.score ?? 0) < hit.score) hits.set(key, hit);
  }
  return [...hits.values()].sort(compareHits);
}

function isWithin(path: string, scope: string): boolean {
  return scope === '' || path === scope || path.startsWith(`${scope}/`);
}

async function searchFiles(
  workspace: Workspace,
  syntax: Syntax,
  search: CodeSearch,
  query: ParsedQuery,
): Promise<CodeSearchResult> {
  const found = await findCandidateFiles(workspace, { query, scope: search.scope, signal: search.signal });
  const rarity = found.frequencies.map((count) => Math.log(1 + (found.files.length + 1) / (count + 0.5)));
  const isWanted = (path: string) => search.language === undefined || syntax.languageOf(path) === search.language;
  const ranked = found.files
    .filter(({ path }) => isWanted(path))
    .map((file) => ({ file, score: rateFile(file, rarity) }))
    .sort((a, b) => b.score - a.score || compareText(a.file.path, b.file.path));
  const parsed = ranked.slice(0, maxParsedFiles).map(({ file }) => file);
  const hits = await mapWithin(parsedAtOnce, parsed, (file) =>
    findHits(file, { query, rarity, workspace, syntax, signal: search.signal }),
  );
  const all = hits.flat().filter(({ kind }) => search.kind === undefined || kind === search.kind);
  return {
    hits: rankHits(all, query).slice(0, search.limit),
    total: all.length,
    isComplete: found.isComplete && ranked.length <= maxParsedFiles,
  };
}

/** A file with several words of the query comes before one with a single word, and its path counts too. */
function rateFile({ terms, path, lines }: CandidateFile, rarity: readonly number[]): number {
  const sum = [...terms].reduce((total, term) => total + (rarity[term] ?? 0), 0);
  return sum * terms.size * pathFactor(path) * (1 + Math.min(lines.size, 10) / 20);
}
