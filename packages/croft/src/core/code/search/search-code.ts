import { AppError } from '@croft/protocol';
import type { Workspace } from '../../workspace/workspace.ts';
import type { CodeSymbol, ParsedFile } from '../code-symbol.ts';
import type { Syntax } from '../syntax.ts';
import { type CandidateFile, findCandidateFiles } from './find-candidate-files.ts';
import { type ParsedQuery, parseCodeQuery } from './parse-code-query.ts';
import { pathFactor, scoreSymbol } from './score-symbol.ts';

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

/** A definition, or a line of a file whose language has no grammar. */
export interface CodeHit {
  readonly path: string;
  readonly line: number;
  readonly kind: string;
  /** With its containers: `Shop.Cart.add`. Absent for a line. */
  readonly name?: string | undefined;
  /** The signature, or the line. */
  readonly text: string;
  readonly doc?: string | undefined;
  readonly score: number;
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
const maxFileBytes = 1024 * 1024;
/** A line that has the words of a query is worth less than a definition that does. */
const lineWeight = 0.5;

/**
 * Answers a question about code with the definitions that fit best. Reads the files as they are now: ripgrep finds those
 * with words of the query, and the best of them are parsed.
 */
export async function searchCode(workspace: Workspace, syntax: Syntax, search: CodeSearch): Promise<CodeSearchResult> {
  const query = parseCodeQuery(search.query);
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
  all.sort((a, b) => b.score - a.score || compareText(a.path, b.path) || a.line - b.line);
  return {
    hits: all.slice(0, search.limit),
    total: all.length,
    isComplete: found.isComplete && ranked.length <= maxParsedFiles,
  };
}

interface HitOptions {
  readonly query: ParsedQuery;
  readonly rarity: readonly number[];
  readonly workspace: Workspace;
  readonly syntax: Syntax;
  readonly signal: AbortSignal;
}

/** A file with several words of the query comes before one with a single word, and its path counts too. */
function rateFile({ terms, path, lines }: CandidateFile, rarity: readonly number[]): number {
  const sum = [...terms].reduce((total, term) => total + (rarity[term] ?? 0), 0);
  return sum * terms.size * pathFactor(path) * (1 + Math.min(lines.size, 10) / 20);
}

async function findHits(file: CandidateFile, options: HitOptions): Promise<CodeHit[]> {
  const parsed = await parse(file.path, options);
  return parsed ? findSymbols(file, parsed, options) : findLines(file, options);
}

/** Returns `undefined` for a file that is gone, too large, or in a language without a grammar. */
async function parse(path: string, { workspace, syntax, signal }: HitOptions): Promise<ParsedFile | undefined> {
  if (syntax.languageOf(path) === undefined) return undefined;
  try {
    const { bytes } = await workspace.files.read(path, { maxBytes: maxFileBytes });
    return await syntax.parse({ path, bytes }, signal);
  } catch (thrown) {
    signal.throwIfAborted();
    if (thrown instanceof AppError) return undefined;
    throw thrown;
  }
}

function findSymbols(
  { path, lines }: CandidateFile,
  { symbols }: ParsedFile,
  { query, rarity }: HitOptions,
): CodeHit[] {
  const bodies = new Map<CodeSymbol, Set<number>>();
  for (const [line, { terms }] of lines) {
    const around = symbols.findLast(({ at, endLine }) => at.line <= line && line <= endLine);
    if (around) bodies.set(around, (bodies.get(around) ?? new Set()).union(terms));
  }
  return symbols.flatMap((symbol) => {
    const score = scoreSymbol({ symbol, path, bodyTerms: bodies.get(symbol) ?? new Set() }, query, rarity);
    if (score <= 0 || (!bodies.has(symbol) && !isNamed(symbol, query))) return [];
    const { kind, signature: text, doc } = symbol;
    return [
      { path, line: symbol.at.line, kind, name: [...symbol.containers, symbol.name].join('.'), text, doc, score },
    ];
  });
}

/** Its path alone does not make a definition an answer: the file has many others. */
function isNamed({ name, containers, signature, doc = '' }: CodeSymbol, { terms }: ParsedQuery): boolean {
  const text = [name, ...containers, signature, doc].join(' ').toLowerCase();
  return terms.some(({ forms }) => forms.some((form) => text.includes(form)));
}

/** The best line of a file without a grammar. */
function findLines({ path, lines }: CandidateFile, { query, rarity }: HitOptions): CodeHit[] {
  const rated = [...lines].map(([line, { text, terms }]) => {
    const sum = [...terms].reduce((total, term) => total + (rarity[term] ?? 0), 0);
    const share = terms.size / query.terms.length;
    return { path, line, kind: 'text', text, score: sum * share * share * lineWeight * pathFactor(path) };
  });
  return rated.sort((a, b) => b.score - a.score).slice(0, 1);
}

async function mapWithin<Item, Result>(
  count: number,
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const lane = async () => {
    for (let at = next++; at < items.length; at = next++) results[at] = await work(items[at] as Item);
  };
  await Promise.all(Array.from({ length: count }, lane));
  return results;
}

function compareText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
