import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { DigestedSymbol } from '../core/code/syntax.ts';

/** A word that a file mentions, and how often. */
type WordCount = readonly [word: string, count: number];

type SymbolRow = [
  name: string,
  kind: DigestedSymbol['kind'],
  containers: readonly string[],
  signature: string,
  doc: string,
  isExported: 0 | 1,
  line: number,
  endLine: number,
];

export function packSymbols(symbols: readonly DigestedSymbol[]): Uint8Array | null {
  return pack(
    symbols.map(({ name, kind, containers, signature, doc, isExported, line, endLine }): SymbolRow => {
      return [name, kind, containers, signature, doc, isExported ? 1 : 0, line, endLine];
    }),
  );
}

export function unpackSymbols(packed: unknown): DigestedSymbol[] {
  return unpack<SymbolRow>(packed).map(
    ([name, kind, containers, signature, doc, isExported, line, endLine]): DigestedSymbol => ({
      ...{ name, kind, containers, signature, doc, isExported: isExported === 1, line, endLine },
    }),
  );
}

export const packMentions = (mentions: readonly WordCount[]): Uint8Array | null => pack(mentions);
export const unpackMentions = (packed: unknown): WordCount[] => unpack<WordCount>(packed);

function pack(rows: readonly unknown[]): Uint8Array | null {
  return rows.length === 0 ? null : deflateRawSync(JSON.stringify(rows), { level: 3 });
}

function unpack<Row>(packed: unknown): Row[] {
  return packed instanceof Uint8Array ? JSON.parse(inflateRawSync(packed).toString()) : [];
}
