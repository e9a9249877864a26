import type { CodeHit, IndexQuestion } from '../core/code/ports/code-index.ts';
import { compareText, rankHits } from '../core/code/search/rank-hits.ts';
import { pathFactor, scoreSymbol } from '../core/code/search/score-symbol.ts';
import { splitWords } from '../core/code/search/split-words.ts';
import type { DigestedSymbol } from '../core/code/syntax.ts';
import type { IndexDatabase } from './index-database.ts';
import { listDue } from './listed-files-table.ts';
import { matchAll, matchAny, toGroup } from './match-expressions.ts';
import { unpackSymbols } from './pack-symbols-and-mentions.ts';

export interface FoundInIndex {
  readonly hits: readonly CodeHit[];
  readonly rarity: readonly number[];
  readonly texts: readonly string[];
  /** Files that have to be read, which the answer leaves out; of more than `maxStale` one more than that. */
  readonly stale: readonly string[];
}

/** If more files have to be read, an index does not answer. */
export const maxStale = 200;
/** Most rows of each way to find candidates, and most rows that are rated to find them. */
const maxCandidates = 200;
const maxRated = 20_000;
const maxHits = 200;
const maxTexts = 20;
/** BM25F: name, its parts, container, signature, doc, path. */
const rating = 'bm25(symbol_words, 8, 5, 2, 2, 1, 2)';

interface RatedHit extends CodeHit {
  readonly isWhole: boolean;
}

interface FileRow {
  readonly path: string;
  readonly language: string | undefined;
  readonly rank: number;
}

interface FoundSymbolRow extends FileRow {
  readonly symbol: DigestedSymbol;
}

/** Finds the definitions that fit a query best: by words, best rated first, and by name. */
export function findSymbols(index: IndexDatabase, question: IndexQuestion): FoundInIndex {
  const { query } = question;
  const rarity = rateTerms(index, question);
  const stale = listDue(index, maxStale + 1).map(([path]) => path);
  const isOfKind = ({ symbol }: FoundSymbolRow) => question.kind === undefined || symbol.kind === question.kind;
  const rows = readSymbols(index, findCandidates(index, question, rarity)).filter(
    (row) => isOfKind(row) && isWanted(row, question),
  );
  const scored = rows.map((row) => toHit(row, question, rarity)).filter(({ score }) => score > 0);
  const isAnswered = scored.some(({ isWhole }) => isWhole);
  const hits = rankHits(scored.map(withoutMark), query).slice(0, maxHits);
  return { hits, rarity, texts: isAnswered ? [] : findTexts(index, question, rarity), stale };
}

/** The worth of each term by how many files have it. Very frequent terms are all alike. */
function rateTerms(index: IndexDatabase, { query }: IndexQuestion): number[] {
  const [{ files = 0 } = {}] = index.prepare('SELECT count(*) AS files FROM files').all();
  const count = index.prepare(
    `SELECT count(*) AS found FROM (SELECT rowid FROM file_words WHERE file_words MATCH ? LIMIT ${maxRated})`,
  );
  return query.terms.map((term) => {
    const found = Number(count.get(toGroup(term))?.found ?? 0);
    return Math.log(1 + (Number(files) + 1) / (found + 0.5));
  });
}

function findCandidates(index: IndexDatabase, question: IndexQuestion, rarity: readonly number[]): Set<number> {
  const { terms } = question.query;
  const found = new Set(findByName(index, question));
  const add = (expression: string) => {
    for (const id of findByWords(index, expression, question)) found.add(id);
  };
  add(matchAll(terms));
  if (terms.length > 1 && found.size < maxCandidates) {
    const rarest = terms.toSorted((a, b) => (rarity[terms.indexOf(b)] ?? 0) - (rarity[terms.indexOf(a)] ?? 0));
    for (let left = terms.length - 1; left > 0 && found.size < maxCandidates; left--)
      add(matchAll(rarest.slice(0, left)));
    if (found.size < maxCandidates) add(matchAny(terms));
  }
  return found;
}

/** The whole name, however it is written, or its beginning. */
function findByName(index: IndexDatabase, question: IndexQuestion): number[] {
  const { joined } = question.query;
  const plain = splitWords(joined).join('');
  if (plain.length < 2 || plain !== joined) return [];
  const exact = findByWords(index, `name : "${plain}"`, question);
  return [...exact, ...(plain.length < 4 ? [] : findByWords(index, `name : "${plain}" *`, question))];
}

/** Only the first rows are rated, so that a word of every file costs little more than a rare one. */
function findByWords(index: IndexDatabase, expression: string, { scope, language }: IndexQuestion): number[] {
  const isNarrow = scope !== '' || language !== undefined;
  const among = isNarrow
    ? `JOIN files ON files.first = (SELECT max(first) FROM files WHERE first <= symbol_words.rowid) WHERE (@scope = '' OR path = @scope
       OR (path > @scope || '/' AND path < @scope || '0')) AND (@language IS NULL OR language = @language) AND`
    : 'WHERE';
  const given = isNarrow ? { scope, language: language ?? null } : {};
  return index
    .prepare(
      `SELECT id FROM (SELECT symbol_words.rowid AS id, ${rating} AS rate FROM symbol_words ${among}
       symbol_words MATCH @expression LIMIT ${maxRated}) ORDER BY rate, id LIMIT ${maxCandidates}`,
    )
    .all({ expression, ...given })
    .map(({ id }) => Number(id));
}

/** Reads the definitions with these numbers. */
function readSymbols(index: IndexDatabase, numbers: ReadonlySet<number>): FoundSymbolRow[] {
  const read = index.prepare(
    'SELECT path, language, rank, due, symbols, first FROM files WHERE first <= ? ORDER BY first DESC LIMIT 1',
  );
  const found: FoundSymbolRow[] = [];
  let [file, symbols, end] = [{} as Readonly<Record<string, unknown>>, [] as DigestedSymbol[], 0];
  for (const number of [...numbers].sort((a, b) => a - b)) {
    if (number >= end) {
      file = read.get(number) ?? {};
      symbols = unpackSymbols(file.symbols);
      end = Number(file.first) + symbols.length;
    }
    const symbol = symbols[number - Number(file.first)];
    if (symbol && file.due === 0) found.push({ ...toFileRow(file), symbol });
  }
  return found;
}

function toFileRow({ path, language, rank }: Readonly<Record<string, unknown>>): FileRow {
  return { path: String(path), language: language === null ? undefined : String(language), rank: Number(rank) };
}

function isWanted({ path, language }: FileRow, question: IndexQuestion): boolean {
  const { scope } = question;
  const isInScope = scope === '' || path === scope || path.startsWith(`${scope}/`);
  return isInScope && (question.language === undefined || question.language === language);
}

function toHit({ path, rank, symbol }: FoundSymbolRow, { query }: IndexQuestion, rarity: readonly number[]): RatedHit {
  const { score, isWhole } = scoreSymbol({ symbol, path, bodyTerms: new Set() }, query, rarity);
  const { name, containers, kind, signature: text, doc, line } = symbol;
  return {
    ...{ path, line, kind, name: [...containers, name].join('.'), text, doc },
    ...{ score: score * toRankFactor(rank), isWhole },
  };
}

/** 0.8 for a file that nobody mentions, 1 for an average one, 1.4 at most. */
function toRankFactor(rank: number): number {
  return Math.min(1.4, 0.8 + 0.2 * Math.log2(1 + rank));
}

function withoutMark({ isWhole: _, ...hit }: RatedHit): CodeHit {
  return hit;
}

/** Files with all the terms in their text, or else with the rarest. */
function findTexts(index: IndexDatabase, question: IndexQuestion, rarity: readonly number[]): string[] {
  const { terms } = question.query;
  const rarest = terms[rarity.indexOf(Math.max(...rarity))];
  const found = readTexts(index, matchAll(terms), question);
  if (found.length > 0 || !rarest || terms.length === 1) return found;
  return readTexts(index, toGroup(rarest), question);
}

function readTexts(index: IndexDatabase, expression: string, question: IndexQuestion): string[] {
  const rows = index
    .prepare(
      `SELECT path, language, rank FROM (SELECT rowid AS id FROM file_words WHERE file_words MATCH ? LIMIT ${maxRated})
       JOIN files USING (id) WHERE due = 0`,
    )
    .all(expression)
    .map(toFileRow)
    .filter((row) => isWanted(row, question))
    .map(({ path, rank }) => ({ path, worth: pathFactor(path) * toRankFactor(rank) }));
  return rows
    .sort((a, b) => b.worth - a.worth || compareText(a.path, b.path))
    .slice(0, maxTexts)
    .map(({ path }) => path);
}
