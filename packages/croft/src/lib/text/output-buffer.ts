import { wholeCharsEnd, wholeCharsStart } from './utf8.ts';

export interface OutputBuffer {
  append(bytes: Uint8Array): void;
  /** Bytes ever appended. */
  readonly total: number;
  /** Bytes in the middle that are no longer held. */
  readonly dropped: number;
  since(cursor: number): OutputPart;
  textSince(cursor: number, options?: { final?: boolean }): OutputText;
  toText(): string;
}

export interface OutputPart {
  readonly bytes: Buffer;
  /** Where to go on: everything up to here was returned or is gone. */
  readonly cursor: number;
  /** Bytes after the asked-for cursor that are gone. They were at `missedAt` in `bytes`. */
  readonly missed: number;
  readonly missedAt: number;
}

export interface OutputText {
  readonly text: string;
  readonly cursor: number;
  readonly missed: number;
}

/**
 * Keeps the first `headBytes` and the last `tailBytes` of a stream that may never end, in memory that grows with
 * what was written up to their sum. A cursor counts bytes from the start of the stream.
 */
export function createOutputBuffer({ headBytes, tailBytes }: { headBytes: number; tailBytes: number }): OutputBuffer {
  const head = createRing(headBytes);
  const tail = createRing(tailBytes);
  let total = 0;

  return {
    append(bytes) {
      const room = Math.min(headBytes - head.length(), bytes.length);
      if (room > 0) head.append(bytes.subarray(0, room));
      tail.append(room > 0 ? bytes.subarray(room) : bytes);
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

  function since(cursor: number): OutputPart {
    const from = Math.min(Math.max(Math.trunc(cursor) || 0, 0), total);
    const first = head.from(from);
    const last = tail.from(from - tailStart());
    return {
      bytes: Buffer.concat([first, last]),
      cursor: total,
      missed: Math.max(0, tailStart() - Math.max(from, head.length())),
      missedAt: first.length,
    };
  }

  /**
   * As text, with a marker where bytes are gone, and no character cut in two there. Unless the stream is at its
   * end (`final`), a character of which only the first bytes came is left for the next call.
   */
  function textSince(cursor: number, { final = true } = {}): OutputText {
    const part = since(cursor);
    const end = final ? part.bytes.length : wholeCharsEnd(part.bytes);
    const { text, missed } = decode(part.bytes.subarray(0, end), part);
    return { text, missed, cursor: part.cursor - (part.bytes.length - end) };
  }
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

/** The last `capacity` bytes of what is appended. Takes no more memory than it was given bytes. */
function createRing(capacity: number) {
  let storage = Buffer.alloc(0);
  let length = 0;
  let next = 0;

  return { length: () => length, append, from };

  function append(bytes: Uint8Array): void {
    const kept = bytes.length > capacity ? bytes.subarray(bytes.length - capacity) : bytes;
    if (kept.length === 0) return;
    grow(Math.min(capacity, length + kept.length));
    const room = storage.length - next;
    if (kept.length <= room) storage.set(kept, next);
    else {
      storage.set(kept.subarray(0, room), next);
      storage.set(kept.subarray(room), 0);
    }
    next = (next + kept.length) % storage.length;
    length = Math.min(capacity, length + kept.length);
  }

  /** Only before the first wrap, when the bytes lie in order from 0: after it the storage has its full size. */
  function grow(needed: number): void {
    if (needed <= storage.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.min(capacity, Math.max(needed, storage.length * 2, 1024)));
    larger.set(storage.subarray(0, length));
    storage = larger;
    next = length;
  }

  function from(offset: number): Buffer {
    const start = Math.min(Math.max(offset, 0), length);
    const oldest = length < storage.length ? 0 : next;
    const first = storage.subarray(oldest, oldest + length);
    const second = storage.subarray(0, length - first.length);
    return Buffer.concat([first.subarray(start), second.subarray(Math.max(0, start - first.length))]);
  }
}
