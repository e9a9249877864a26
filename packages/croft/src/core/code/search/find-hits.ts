import { AppError } from '@croft/protocol';
import type { Workspace } from '../../workspace/workspace.ts';
import type { CodeSymbol, ParsedFile } from '../code-symbol.ts';
import type { CodeHit, ParsedQuery } from '../ports/code-index.ts';
import type { Syntax } from '../syntax.ts';
import type { CandidateFile } from './find-candidate-files.ts';
import { pathFactor, scoreSymbol } from './score-symbol.ts';

interface HitOptions {
  readonly query: ParsedQuery;
  /** The worth of each term. */
  readonly rarity: readonly number[];
  readonly workspace: Workspace;
  readonly syntax: Syntax;
  readonly signal: AbortSignal;
}

const maxFileBytes = 1024 * 1024;
/** A line that has the words of a query is worth less than a definition that does. */
const lineWeight = 0.5;

/** The definitions of a file that answer a query, or its best line if it cannot be parsed. */
export async function findHits(file: CandidateFile, options: HitOptions): Promise<CodeHit[]> {
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
    const { score } = scoreSymbol({ symbol, path, bodyTerms: bodies.get(symbol) ?? new Set() }, query, rarity);
    if (score <= 0 || (!bodies.has(symbol) && !isNamed(symbol, query))) return [];
    const { kind, signature: text, doc } = symbol;
    return [
      { path, line: symbol.at.line, kind, name: [...symbol.containers, symbol.name].join('.'), text, doc, score },
    ];
  });
}

/** A path alone does not make a definition an answer: its file has many others. */
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

export async function mapWithin<Item, Result>(
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
