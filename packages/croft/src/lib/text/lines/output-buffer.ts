import { wholeCharsEnd, wholeCharsStart } from '../utf8-boundaries.ts';

const newline = 0x0a;
const carriageReturn = 0x0d;

export interface OutputBuffer {
  append(bytes: Uint8Array): void;
  /** Number of bytes ever appended. */
  readonly total: number;
  /** Number of bytes in the middle that were dropped. */
  readonly dropped: number;
  /** Returns at most `maxBytes` of the output from the cursor on. */
  since(cursor: number, maxBytes?: number): OutputPart;
  textSince(cursor: number, options?: TextOptions): OutputText;
  toText(): string;
}

interface OutputPart {
  readonly bytes: Buffer;
  /** The next cursor: everything before it was returned or dropped. */
  readonly cursor: number;
  /** Number of bytes after the requested cursor that were dropped. They belong at `missedAt` in `bytes`. */
  readonly missed: number;
  readonly missedAt: number;
}

interface TextOptions {
  /** The stream has ended. Otherwise an incomplete last character is left for the next call. */
  readonly final?: boolean;
  /**
   * If there is more output than this, the text ends with a whole line or, if that line is longer, with a whole
   * character.
   */
  readonly maxBytes?: number;
}

interface OutputText {
  readonly text: string;
  readonly cursor: number;
  readonly missed: number;
}

/**
 * Keeps the first `headBytes` and the last `tailBytes` of an endless stream. Memory grows with the output up to their
 * sum. A cursor counts bytes from the start of the stream.
 */
export function createOutputBuffer({ headBytes, tailBytes }: { headBytes: number; tailBytes: number }): OutputBuffer {
  const head = createRing(headBytes);
  const tail = createRing(tailBytes);
  let total = 0;

  return {
    append(bytes) {
      const headSpace = Math.min(headBytes - head.length(), bytes.length);
      if (headSpace > 0) head.append(bytes.subarray(0, headSpace));
      tail.append(headSpace > 0 ? bytes.subarray(headSpace) : bytes);
      total += bytes.length;
    },
    get total() {
      return total;
    },
    get dropped() {
      return tailStart() - head.length();
    },
    since,
    textSince,
    toText: () => textSince(0).text,
  };

  function tailStart(): number {
    return total - tail.length();
  }

  function since(cursor: number, maxBytes = Number.POSITIVE_INFINITY): OutputPart {
    const from = Math.min(Math.max(Math.trunc(cursor) || 0, 0), total);
    const first = head.from(from, maxBytes);
    if (first.length === maxBytes) return { bytes: first, cursor: from + maxBytes, missed: 0, missedAt: maxBytes };
    const last = tail.from(from - tailStart(), maxBytes - first.length);
    return {
      bytes: Buffer.concat([first, last]),
      cursor: Math.max(from, tailStart()) + last.length,
      missed: Math.max(0, tailStart() - Math.max(from, head.length())),
      missedAt: first.length,
    };
  }

  /** Returns the output as text, with a marker where bytes were dropped, and no split character there. */
  function textSince(cursor: number, { final = true, maxBytes }: TextOptions = {}): OutputText {
    const part = since(cursor, maxBytes);
    const isCut = part.cursor < total;
    const end = isCut ? lastLineEnd(part) : final ? part.bytes.length : wholeCharsEnd(part.bytes);
    const { text, missed } = decode(part.bytes.subarray(0, end), part);
    return { text, missed, cursor: part.cursor - (part.bytes.length - end) };
  }
}

/**
 * Returns the end of the last line; lines of a progress bar end with CR alone. The end must be after the dropped bytes,
 * because the cursor continues from there.
 */
function lastLineEnd({ bytes, missedAt, missed }: OutputPart): number {
  const least = missed > 0 ? missedAt : 0;
  const ends = [bytes.lastIndexOf(newline) + 1, bytes.lastIndexOf(carriageReturn), wholeCharsEnd(bytes)];
  return ends.find((end) => end > least) ?? bytes.length;
}

function decode(bytes: Buffer, { missed, missedAt }: OutputPart): { text: string; missed: number } {
  if (missed === 0) return { text: bytes.toString(), missed };
  const first = bytes.subarray(0, missedAt);
  const last = bytes.subarray(missedAt);
  const end = wholeCharsEnd(first);
  const start = wholeCharsStart(last);
  const elided = missed + (first.length - end) + start;
  const marker = `\n... (output truncated, ${elided} bytes elided)\n`;
  return { text: `${first.toString('utf8', 0, end)}${marker}${last.toString('utf8', start)}`, missed: elided };
}

/** Keeps the last `capacity` bytes that are appended. Takes no more memory than bytes were appended. */
function createRing(capacity: number) {
  let storage = Buffer.alloc(0);
  let length = 0;
  let next = 0;

  return { length: () => length, append, from };

  function append(bytes: Uint8Array): void {
    const stored = bytes.length > capacity ? bytes.subarray(bytes.length - capacity) : bytes;
    if (stored.length === 0) return;
    grow(Math.min(capacity, length + stored.length));
    const spaceToEnd = storage.length - next;
    if (stored.length <= spaceToEnd) storage.set(stored, next);
    else {
      storage.set(stored.subarray(0, spaceToEnd), next);
      storage.set(stored.subarray(spaceToEnd), 0);
    }
    next = (next + stored.length) % storage.length;
    length = Math.min(capacity, length + stored.length);
  }

  /** Grows only before the first wrap, when the bytes lie in order from 0; after it the storage has its full size. */
  function grow(needed: number): void {
    if (needed <= storage.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.min(capacity, Math.max(needed, storage.length * 2, 1024)));
    larger.set(storage.subarray(0, length));
    storage = larger;
    next = length;
  }

  function from(offset: number, maxBytes: number): Buffer {
    const start = Math.min(Math.max(offset, 0), length);
    const end = Math.min(length, start + maxBytes);
    const oldest = length < storage.length ? 0 : next;
    const first = storage.subarray(oldest, oldest + length);
    const second = storage.subarray(0, length - first.length);
    const wrapped = [start, end].map((at) => Math.max(0, at - first.length));
    return Buffer.concat([first.subarray(start, end), second.subarray(...wrapped)]);
  }
}
