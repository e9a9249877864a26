import type { MappedSymbol, MapQuestion } from '../core/code/ports/code-index.ts';
import { compareText } from '../core/code/search/rank-hits.ts';
import { pathFactor } from '../core/code/search/score-symbol.ts';
import type { DigestedSymbol } from '../core/code/syntax.ts';
import { type FileGraph, readFileGraph } from './file-graph.ts';
import type { IndexDatabase } from './index-database.ts';
import { unpackSymbols } from './pack-symbols-and-mentions.ts';
import { pageRank } from './page-rank.ts';

/** How much more likely a reader starts at a file of the focus than at another. */
const focusWeight = 100;
/** Only definitions of this many files, those with the highest ranks, are rated. */
const maxFiles = 500;

interface IndexedFile {
  readonly path: string;
  /** Read when they are needed: those of all files would take much memory. */
  symbols(): DigestedSymbol[];
}

interface RatedSymbol extends MappedSymbol {
  readonly rate: number;
}

/** Ranks files by which files mention their definitions, and each definition by its share of that rank. */
export function rankSymbolsForMap(index: IndexDatabase, { focus, limit }: MapQuestion): MappedSymbol[] {
  const graph = readFileGraph(index);
  const files = readFiles(index, graph);
  const bias = Float64Array.from(files, (file) => rateFocus(file, focus) * rateFile(file.path));
  const ranks = pageRank(files.length, graph.edges, bias);
  const mentioned = rateMentions(graph, ranks);
  const best = [...files.keys()]
    .sort((a, b) => (ranks[b] ?? 0) - (ranks[a] ?? 0) || compareText(files[a]?.path ?? '', files[b]?.path ?? ''))
    .slice(0, maxFiles);
  const rated = best.flatMap((number) => rateSymbols(files[number], ranks[number] ?? 0, mentioned.get(number)));
  rated.sort((a, b) => b.rate - a.rate || compareText(a.path, b.path) || a.line - b.line);
  return rated.slice(0, limit).map(({ rate: _, ...symbol }) => symbol);
}

function readFiles(index: IndexDatabase, { ids }: FileGraph): IndexedFile[] {
  const readPath = index.prepare('SELECT path FROM files WHERE id = ?');
  const readSymbols = index.prepare('SELECT symbols FROM files WHERE id = ?');
  return ids.map((id) => ({
    path: String(readPath.get(id)?.path),
    symbols: () => unpackSymbols(readSymbols.get(id)?.symbols),
  }));
}

function rateFocus({ path, symbols }: IndexedFile, focus: readonly string[]): number {
  if (focus.length === 0) return 1;
  if (focus.some((each) => path === each || path.startsWith(`${each}/`))) return focusWeight;
  const names = focus.filter((each) => !each.includes('/'));
  return names.length > 0 && symbols().some(({ name }) => names.includes(name)) ? focusWeight : 1;
}

/** The rank that each name of each file brings to the file. */
function rateMentions({ edges, nameOf }: FileGraph, ranks: Float64Array): Map<number, Map<string, number>> {
  const left = new Float64Array(ranks.length);
  for (const [at, from] of edges.from.entries()) left[from] = (left[from] ?? 0) + (edges.weight[at] ?? 0);
  const rates = new Map<number, Map<string, number>>();
  for (const [at, from] of edges.from.entries()) {
    const to = edges.to[at] ?? 0;
    const name = nameOf(at);
    const ofFile = rates.get(to) ?? new Map<string, number>();
    rates.set(to, ofFile);
    const share = ((ranks[from] ?? 0) * (edges.weight[at] ?? 0)) / (left[from] || 1);
    ofFile.set(name, (ofFile.get(name) ?? 0) + share);
  }
  return rates;
}

/** A definition that nobody mentions comes last, the exported ones of important files first. */
function rateSymbols(
  file: IndexedFile | undefined,
  rank: number,
  mentioned: ReadonlyMap<string, number> | undefined,
): RatedSymbol[] {
  if (!file) return [];
  const code = file.symbols().filter(isCode);
  return code.map(({ name, kind, containers, signature, isExported, line }) => ({
    ...{ path: file.path, line, kind, name: [...containers, name].join('.'), signature },
    rate: ((mentioned?.get(name) ?? 0) + rank * (isExported ? 1e-3 : 1e-6)) * rateFile(file.path),
  }));
}

/** A map has little room for what is not the code itself. */
function rateFile(path: string): number {
  return pathFactor(path) < 1 ? 0.1 : 1;
}

/** Tests say what the code does, and not what it consists of. */
function isCode({ kind, containers }: DigestedSymbol): boolean {
  return kind !== 'test' && !containers.some((container) => container.includes(' '));
}
