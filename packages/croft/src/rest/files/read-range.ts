import { AppError } from '@croft/protocol';
import type { ByteRange } from '../../core/files/files.ts';

/**
 * Returns the requested part, or `undefined` for the whole file. A header that is not a single byte range is ignored,
 * as the HTTP standard says. Throws `E_RANGE` for a part outside of the file.
 */
export function readRange(headers: Headers, size: number, tag: string): ByteRange | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(headers.get('range')?.trim() ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  const condition = headers.get('if-range');
  // A client with a part of another version needs the whole file.
  if (condition !== null && condition.trim() !== tag) return undefined;
  const range = first === '' ? fromEnd(Number(last), size) : fromStart(Number(first), last, size);
  if (range === undefined) return undefined;
  if (range.start >= size || range.end <= range.start) throw unsatisfiable(size);
  return range;
}

function fromStart(start: number, last: string, size: number): ByteRange | undefined {
  // A range that ends before it starts is not valid and ignored.
  if (last !== '' && Number(last) < start) return undefined;
  return { start, end: last === '' ? size : Math.min(size, Number(last) + 1) };
}

function fromEnd(length: number, size: number): ByteRange {
  return { start: Math.max(0, size - length), end: size };
}

function unsatisfiable(size: number): AppError {
  return new AppError('E_RANGE', `the file has ${size} bytes, and the requested range is outside of it`, {
    details: { size },
  });
}
