import { isUtf8 } from 'node:buffer';
import type { SourceRange, TextPosition } from '../core/code/code-symbol.ts';

/** The text of a file as the parser reads it, and the way from its offsets (UTF-16 units) back to bytes and lines. */
export interface DecodedSource {
  readonly text: string;
  toByte(offset: number): number;
  toRange(start: number, end: number): SourceRange;
  toPosition(offset: number): TextPosition;
}

const byteOrderMark = '\u{feff}';

/** Bytes that are no UTF-8 are read one by one, so that every byte keeps its place. */
export function readSource(bytes: Uint8Array): DecodedSource {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString(isUtf8(bytes) ? 'utf8' : 'latin1');
  const toByte = text.length === buffer.length ? (offset: number) => offset : countBytes(text);
  const lineStarts = findLineStarts(text);
  return {
    text,
    toByte,
    toRange: (start, end) => ({ start: toByte(start), end: toByte(end) }),
    toPosition(offset) {
      const line = lastAtMost(lineStarts, offset);
      return { line: line + 1, col: offset - (lineStarts[line] ?? 0) + 1 };
    },
  };
}

/** Returns the index of the last number that is at most `value`; -1 if all are larger. */
export function lastAtMost(sorted: ArrayLike<number>, value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function countBytes(text: string): (offset: number) => number {
  const bytes = new Uint32Array(text.length + 1);
  for (let at = 0; at < text.length; at++) bytes[at + 1] = (bytes[at] as number) + widthOf(text.charCodeAt(at));
  return (offset) => bytes[Math.min(offset, text.length)] as number;
}

/** Each half of a surrogate pair counts two of its four bytes. */
function widthOf(unit: number): number {
  if (unit < 0x80) return 1;
  return unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3;
}

/** A byte order mark is no column of the first line. */
function findLineStarts(text: string): number[] {
  const starts = [text.startsWith(byteOrderMark) ? 1 : 0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}
