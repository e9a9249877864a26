import { wholeCharsEnd } from '../utf8-boundaries.ts';

interface TextLineSplitter {
  /** Returns the lines that `bytes` completes, without their line ends. */
  push(bytes: Uint8Array): string[];
  /** Ends the stream and returns a last line without line end, if there is one. */
  flush(): string[];
}

const emptyBytes = Buffer.alloc(0);
const newline = 0x0a;
const carriageReturn = 0x0d;

/**
 * Splits a stream of bytes into lines of text. A line ends at LF or CRLF. Of a line longer than `maxLineBytes` only the
 * beginning is returned, cut at a whole character; the rest is skipped and takes no memory.
 */
export function createTextLineSplitter({ maxLineBytes }: { maxLineBytes: number }): TextLineSplitter {
  let buffered = Buffer.alloc(0);
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
    bufferBytes(bytes, start, bytes.length);
    isOpen ||= start < bytes.length;
    return lines;
  }

  /** Returns a finished line. Most lines are within one chunk and need no copy. */
  function endLine(bytes: Buffer, start: number, end: number): string {
    if (length === 0) return toLine(bytes, start, end);
    bufferBytes(bytes, start, end);
    const line = toLine(buffered, 0, length, isCut);
    length = 0;
    isCut = false;
    isOpen = false;
    return line;
  }

  /**
   * Buffers an unfinished line, up to one byte more than a line may have, because the last byte may be the CR of a line
   * end.
   */
  function bufferBytes(bytes: Buffer, start: number, end: number): void {
    const accepted = bytes.subarray(start, Math.min(end, start + maxLineBytes + 1 - length));
    isCut ||= accepted.length < end - start;
    if (length + accepted.length > buffered.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(maxLineBytes + 1, Math.max(length + accepted.length, length * 2)));
      larger.set(buffered.subarray(0, length));
      buffered = larger;
    }
    buffered.set(accepted, length);
    length += accepted.length;
  }

  function toLine(bytes: Buffer, start: number, end: number, isBeginning = false): string {
    if (start === end) return '';
    const last = !isBeginning && bytes[end - 1] === carriageReturn ? end - 1 : end;
    if (last - start <= maxLineBytes) return bytes.toString('utf8', start, last);
    const shown = bytes.subarray(start, start + maxLineBytes);
    return shown.toString('utf8', 0, wholeCharsEnd(shown));
  }
}
