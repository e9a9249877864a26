import type { IndexDatabase } from './index-database.ts';
import { unpackMentions, unpackSymbols } from './pack-symbols-and-mentions.ts';
import type { GraphEdges } from './page-rank.ts';

/** A graph of files: an arrow leads from a file that mentions a name to a file that defines it. */
export interface FileGraph {
  /** Ids of the files, in order; the graph has their numbers in this list. */
  readonly ids: readonly number[];
  readonly edges: GraphEdges;
  /** The name that an arrow stands for. */
  nameOf(edge: number): string;
}

/** A name that very many files define says nothing about any of them. */
const maxDefiners = 20;
const frequentDefiners = 5;
const distinctiveLength = 8;
const maxEdges = 2_000_000;
/** Most that one file adds: 2,000 mentions of names that 20 files define. */
const maxEdgesOfFile = 40_000;
const numbersPerStep = 100_000;

/** Reads the graph of all files. The weight of an arrow grows with the mentions and how distinctive the name is. */
export function readFileGraph(index: IndexDatabase): FileGraph {
  const ids = index
    .prepare('SELECT id FROM files ORDER BY path')
    .all()
    .map(({ id }) => Number(id));
  const numbers = new Map(ids.map((id, number) => [id, number]));
  const definers = readDefiners(index, numbers);
  const edges = createEdgeList();
  const mentioning = index.prepare('SELECT id, mentions, symbols FROM files WHERE mentions NOT NULL');
  for (const { id, mentions, symbols } of mentioning.iterate()) {
    const from = numbers.get(Number(id));
    if (from === undefined) continue;
    for (const [word, count] of unpackMentions(mentions, symbols)) addMention(word, count, from);
    if (edges.count() > maxEdges) break;
  }
  return { ids, edges: edges.toEdges(), nameOf: edges.nameOf };

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

/** Millions of arrows as numbers: a list of objects would take five times the memory. */
function createEdgeList() {
  const [from, to, name] = [createNumbers(Uint32Array), createNumbers(Uint32Array), createNumbers(Uint32Array)];
  const weight = createNumbers(Float64Array);
  const numbers = new Map<string, number>();
  const words: string[] = [];
  let count = 0;
  return {
    add(source: number, target: number, worth: number, word: string) {
      const number = numbers.get(word) ?? words.push(word) - 1;
      numbers.set(word, number);
      from.set(count, source);
      to.set(count, target);
      name.set(count, number);
      weight.set(count++, worth);
    },
    count: () => count,
    nameOf: (edge: number) => words[name.all[edge] ?? 0] ?? '',
    toEdges: (): GraphEdges => ({
      from: from.all.subarray(0, count),
      to: to.all.subarray(0, count),
      weight: weight.all.subarray(0, count),
    }),
  };
}

type NumberArray = Uint32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

/** A list of numbers that grows in place. */
function createNumbers<Numbers extends NumberArray>(
  Kind: (new (buffer: ArrayBuffer) => Numbers) & { readonly BYTES_PER_ELEMENT: number },
) {
  const size = Kind.BYTES_PER_ELEMENT;
  const maxByteLength = (maxEdges + maxEdgesOfFile) * size;
  const buffer = new ArrayBuffer(numbersPerStep * size, { maxByteLength });
  const all = new Kind(buffer);
  return {
    all,
    set(at: number, value: number): void {
      if (at >= all.length) buffer.resize(Math.min(maxByteLength, buffer.byteLength + numbersPerStep * size));
      all[at] = value;
    },
  };
}
