import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { compareText } from '../core/code/search/rank-hits.ts';
import type { DigestedSymbol } from '../core/code/syntax.ts';

/** A word that a file mentions, and how often. */
type WordCount = readonly [word: string, count: number];

type SymbolRow = [
  name: string,
  kind: DigestedSymbol['kind'],
  /** The containers with dots between them, or 0. */
  containers: string | 0,
  /** The name in it is a sign. */
  signature: string,
  doc: string | 0,
  isExported: 0 | 1,
  linesAfterLast: number,
  lines: number,
];

const nameSign = '\u0001';

/**
 * Text that packed definitions often have, what is most frequent at the end: 15 % smaller. A change of it needs a new
 * version of the database.
 */
const dictionary = Buffer.from(
  '"macro""module""trait""test""enum""struct","variable",0,"field",' +
    'Returns the of a that is and in for to with from which are it if not be by on as or an Whether Sets Creates Reads' +
    'public static final void int self, args, kwargs func (ctx context.Context, err error) def __init__(self pub fn ' +
    'impl const char *unsigned long size_t Map<string, unknown[] ReadonlyMap<string, | undefined = {} } ' +
    'Record<string, Options Error Request Response default class extends implements Buffer, Uint8Array, signal: ' +
    'AbortSignal ReadonlySet<string> readonly string[]","property","","class",0,"export class ","constructor","' +
    '(path: string(name: string(value: unknown(options: (text: string, index: number, id: string): Promise<string>",' +
    '): boolean",0,): number",0,): string",0,): void",0,0,async ): Promise<void>",0,0,"type",0,"type \u0001","type",0,' +
    '"export type \u0001","interface",0,"interface \u0001","interface",0,"export interface \u0001",0,1,"constant",0,' +
    '"const \u0001 = "constant",0,"export const \u0001","method","","async \u0001(","function",0,"function \u0001(' +
    '","function",0,"async function \u0001(","function",0,"export async function \u0001(","function",0,"export function \u0001(',
);
const level = 6;
const word = /[\p{L}_$][\p{L}\p{N}_$]*/gu;

export function packSymbols(symbols: readonly DigestedSymbol[]): Uint8Array | null {
  let last = 0;
  return pack(
    symbols.map(({ name, kind, containers, signature, doc, isExported, line, endLine }): SymbolRow => {
      const shown = signature.replace(name, () => nameSign);
      const row: SymbolRow = [
        ...([name, kind, containers.join('.') || 0, shown, doc || 0, isExported ? 1 : 0] as const),
        ...([line - last, endLine - line] as const),
      ];
      last = line;
      return row;
    }),
  );
}

export function unpackSymbols(packed: unknown): DigestedSymbol[] {
  let line = 0;
  return unpack<SymbolRow>(packed).map(
    ([name, kind, containers, signature, doc, isExported, linesAfterLast, lines]): DigestedSymbol => {
      line += linesAfterLast;
      return {
        ...{ name, kind, containers: containers === 0 ? [] : containers.split('.'), line, endLine: line + lines },
        ...{ signature: signature.replace(nameSign, () => name), doc: doc || '', isExported: isExported === 1 },
      };
    },
  );
}

/**
 * Packs mentions beside the definitions of the same file, whose text has a third of the words: of those only the counts
 * are kept. The others are sorted, which is smaller.
 */
export function packMentions(mentions: readonly WordCount[], symbols: Uint8Array | null): Uint8Array | null {
  if (mentions.length === 0) return null;
  const { words, text } = readVocabulary(symbols);
  const counts = new Map(mentions);
  const isKnown = new Set(words);
  const others = mentions
    .filter(([word]) => !isKnown.has(word))
    .toSorted(([one], [other]) => compareText(one, other))
    .map(([word, count]) => (count === 1 ? word : `${word} ${count}`));
  const lines = [words.map((word) => counts.get(word) ?? '').join(','), ...others];
  return deflateRawSync(lines.join('\n'), { level, dictionary: text });
}

export function unpackMentions(packed: unknown, symbols: unknown): WordCount[] {
  if (!(packed instanceof Uint8Array)) return [];
  const { words, text } = readVocabulary(symbols);
  const [counts = '', ...others] = inflateRawSync(packed, { dictionary: text }).toString().split('\n');
  const known = counts
    .split(',')
    .flatMap((count, at) => (count === '' ? [] : [[words[at] ?? '', Number(count)] as const]));
  return [...known, ...others.map((line) => [line.replace(/ .*/, ''), Number(line.split(' ')[1] ?? 1)] as const)];
}

/** The words of the definitions of a file, and their text, with which deflate begins. It is never empty. */
function readVocabulary(symbols: unknown): { readonly words: readonly string[]; readonly text: Buffer } {
  const text = unpackSymbols(symbols)
    .map(({ name, signature, doc }) => `${name}\n${signature}\n${doc}`)
    .join('\n');
  return { words: [...new Set(text.match(word))].sort(), text: Buffer.from(text || ' ') };
}

function pack(rows: readonly unknown[]): Uint8Array | null {
  return rows.length === 0 ? null : deflateRawSync(JSON.stringify(rows), { level, dictionary });
}

function unpack<Row>(packed: unknown): Row[] {
  return packed instanceof Uint8Array ? JSON.parse(inflateRawSync(packed, { dictionary }).toString()) : [];
}
