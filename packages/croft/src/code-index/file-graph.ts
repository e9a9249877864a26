import type { IndexDatabase } from './index-database.ts';
import { unpackMentions, unpackSymbols } from './pack-symbols-and-mentions.ts';
import type { GraphEdges } from './page-rank.ts';

/** A graph of files: an arrow leads from a file that mentions a name to a file that defines it. */
export interface FileGraph {
  /** Ids of the files, in order; the graph has their numbers in this list. */
  readonly ids: readonly number[];
  readonly edges: GraphEdges;
  /** The name that each arrow stands for. */
  readonly names: readonly string[];
}

/** A name that very many files define says nothing about any of them. */
const maxDefiners = 20;
const frequentDefiners = 5;
const distinctiveLength = 8;
const maxEdges = 2_000_000;

/** Reads the graph of all files. The weight of an arrow grows with the mentions and how distinctive the name is. */
export function readFileGraph(index: IndexDatabase): FileGraph {
  const ids = index
    .prepare('SELECT id FROM files ORDER BY path')
    .all()
    .map(({ id }) => Number(id));
  const numbers = new Map(ids.map((id, number) => [id, number]));
  const definers = readDefiners(index, numbers);
  const edges = createEdgeList();
  for (const { id, mentions } of index.prepare('SELECT id, mentions FROM files WHERE mentions NOT NULL').iterate()) {
    const from = numbers.get(Number(id));
    if (from === undefined) continue;
    for (const [word, count] of unpackMentions(mentions)) addMention(word, count, from);
    if (edges.count() > maxEdges) break;
  }
  return { ids, edges: edges.toEdges(), names: edges.names };

  function addMention(word: string, count: number, from: number): void {
    const files = definers.get(word) ?? [];
    for (const to of files) if (to !== from) edges.add(from, to, rateMention(word, count, files.length), word);
  }
}

/** The files that define each name, without names that very many files define. */
function readDefiners(index: IndexDatabase, numbers: ReadonlyMap<number, number>): Map<string, number[]> {
  const definers = new Map<string, number[]>();
  for (const { id, symbols } of index.prepare('SELECT id, symbols FROM files WHERE symbols NOT NULL').iterate()) {
    const names = new Set(unpackSymbols(symbols).map(({ name }) => name));
    for (const name of names) addDefiner(name, numbers.get(Number(id)));
  }
  for (const [name, files] of definers) if (files.length > maxDefiners) definers.delete(name);
  return definers;

  function addDefiner(name: string, file: number | undefined): void {
    if (file === undefined || name.length <= 2) return;
    const files = definers.get(name) ?? [];
    if (files.length <= maxDefiners) files.push(file);
    definers.set(name, files);
  }
}

function rateMention(name: string, count: number, definers: number): number {
  const isDistinctive = name.length >= distinctiveLength && /[a-z][A-Z]|[a-z]_[a-z]|[A-Z][a-z]+[A-Z]/.test(name);
  const isVague = name.startsWith('_') || definers > frequentDefiners;
  return Math.sqrt(count) * (isDistinctive ? 10 : 1) * (isVague ? 0.1 : 1);
}

function createEdgeList() {
  const from: number[] = [];
  const to: number[] = [];
  const weight: number[] = [];
  const names: string[] = [];
  return {
    names,
    add(source: number, target: number, worth: number, name: string) {
      from.push(source);
      to.push(target);
      weight.push(worth);
      names.push(name);
    },
    count: () => from.length,
    toEdges: (): GraphEdges => ({
      from: Uint32Array.from(from),
      to: Uint32Array.from(to),
      weight: Float64Array.from(weight),
    }),
  };
}
