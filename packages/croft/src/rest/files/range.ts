import { AppError } from '@croft/protocol';
import type { ByteRange } from '../../core/files.ts';

/**
 * The part that is asked for; `undefined` for all of it. What is not one range of bytes is as if it were not there, as
 * the standard has it. Throws `E_RANGE` for a part that no file of this size has.
 */
export function readRange(headers: Headers, size: number, tag: string): ByteRange | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(headers.get('range')?.trim() ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  const condition = headers.get('if-range');
  // Whoever has a part of another version needs all of this one.
  if (condition !== null && condition.trim() !== tag) return undefined;
  const range = first === '' ? fromEnd(Number(last), size) : fromStart(Number(first), last, size);
  if (range === undefined) return undefined;
  if (range.start >= size || range.end <= range.start) throw unsatisfiable(size);
  return range;
}

function fromStart(start: number, last: string, size: number): ByteRange | undefined {
  // Backwards is no range at all.
  if (last !== '' && Number(last) < start) return undefined;
  return { start, end: last === '' ? size : Math.min(size, Number(last) + 1) };
}

function fromEnd(length: number, size: number): ByteRange {
  return { start: Math.max(0, size - length), end: size };
}

function unsatisfiable(size: number): AppError {
  return new AppError('E_RANGE', `the file has ${size} bytes, and none of those that are asked for`, {
    details: { size },
  });
}
