import { isUtf8 } from 'node:buffer';
import { type DecodedText, decodeUtf16, detectUtf16 } from '../utf16.ts';

const newline = 10;

/** Counts lines. A newline at the very end does not start another line. */
export function countLines(bytes: Uint8Array): number {
  const { lines } = sliceLines(bytes, 1, Number.POSITIVE_INFINITY);
  return lines;
}

/**
 * Returns the byte range of up to `maxLines` lines from `firstLine` (counted from 1), line endings included. Past the
 * end the range is empty.
 */
export function sliceLines(
  bytes: Uint8Array,
  firstLine: number,
  maxLines: number,
): { start: number; end: number; lines: number } {
  const buffer = toBuffer(bytes);
  const { end: start } = skipLines(buffer, 0, firstLine - 1);
  return { start, ...skipLines(buffer, start, maxLines) };
}

/** Decodes UTF-8, or UTF-16 with a byte order mark. Keeps the mark. */
export function decodeText(bytes: Uint8Array): DecodedText {
  const order = detectUtf16(bytes);
  if (order) return decodeUtf16(bytes, order);
  return { text: toBuffer(bytes).toString('utf8'), lossy: !isUtf8(bytes) };
}

function skipLines(buffer: Buffer, start: number, maxLines: number): { end: number; lines: number } {
  let end = start;
  let lines = 0;
  while (lines < maxLines && end < buffer.length) {
    const found = buffer.indexOf(newline, end);
    end = found < 0 ? buffer.length : found + 1;
    lines++;
  }
  return { end, lines };
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
