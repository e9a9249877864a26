import { wholeCharsEnd } from './utf8.ts';

export interface LineSplitter {
  /** The lines that `bytes` completes, without their line ends. */
  push(bytes: Uint8Array): string[];
  /** The end of the stream: a last line without line end, if there is one. */
  flush(): string[];
}

const emptyBytes = Buffer.alloc(0);
const newline = 0x0a;
const carriageReturn = 0x0d;

/**
 * Bytes to lines, whatever the chunks. A line ends at LF or CRLF. Of a line longer than `maxLineBytes` the
 * beginning is returned, to a whole character, and the rest passed over: it never takes memory.
 */
export function createLineSplitter({ maxLineBytes }: { maxLineBytes: number }): LineSplitter {
  let held = Buffer.alloc(0);
  let length = 0;
  let isCut = false;
  let isOpen = false;

  return { push, flush: () => (isOpen ? [endLine(emptyBytes, 0, 0)] : []) };

  function push(chunk: Uint8Array): string[] {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const lines: string[] = [];
    let start = 0;
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, start)) {
      lines.push(endLine(bytes, start, end));
      start = end + 1;
    }
    hold(bytes, start, bytes.length);
    isOpen ||= start < bytes.length;
    return lines;
  }

  /** Most lines are in one chunk and need no copy. */
  function endLine(bytes: Buffer, start: number, end: number): string {
    if (length === 0) return toLine(bytes, start, end);
    hold(bytes, start, end);
    const line = toLine(held, 0, length, isCut);
    length = 0;
    isCut = false;
    isOpen = false;
    return line;
  }

  /** One byte more than a line may have, because the last may turn out to be the CR of a line end. */
  function hold(bytes: Buffer, start: number, end: number): void {
    const kept = bytes.subarray(start, Math.min(end, start + maxLineBytes + 1 - length));
    isCut ||= kept.length < end - start;
    if (length + kept.length > held.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(maxLineBytes + 1, Math.max(length + kept.length, length * 2)));
      larger.set(held.subarray(0, length));
      held = larger;
    }
    held.set(kept, length);
    length += kept.length;
  }

  function toLine(bytes: Buffer, start: number, end: number, isBeginning = false): string {
    if (start === end) return '';
    const last = !isBeginning && bytes[end - 1] === carriageReturn ? end - 1 : end;
    if (last - start <= maxLineBytes) return bytes.toString('utf8', start, last);
    const shown = bytes.subarray(start, start + maxLineBytes);
    return shown.toString('utf8', 0, wholeCharsEnd(shown));
  }
}
