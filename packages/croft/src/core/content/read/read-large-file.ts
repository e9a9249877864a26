import { looksBinary } from '../../../lib/files/looks-binary.ts';
import { cutText } from '../../../lib/text/cut-text.ts';
import { toUtf8Chunks, type Utf16Order } from '../../../lib/text/utf16.ts';
import {
  type LineWindow,
  lineCost,
  maxLineLength,
  maxShownBytes,
  offsetPastEndError,
  type WindowLine,
} from './render-window.ts';

const newline = 10;

/**
 * Reads a window of lines from a file that is too large to hold, no further than necessary, storing of each line only
 * what is shown. Each chunk is processed before the next is requested.
 */
export async function readLargeFile(chunks: AsyncIterable<Buffer>, window: LineWindow, signal: AbortSignal) {
  const skipper = createSkipper(window.offset - 1);
  const taker = createTaker(window);
  let isFirst = true;
  let encoding: Utf16Order | undefined;
  const text = toUtf8Chunks(chunks, (order) => {
    encoding = order;
  });
  for await (const chunk of text) {
    signal.throwIfAborted();
    if (isFirst && looksBinary(chunk)) return 'binary';
    isFirst = false;
    const start = skipper.skip(chunk);
    if (start < chunk.length && taker.take(chunk.subarray(start))) return { ...taker.result(), encoding };
  }
  const hadMore = taker.end();
  if (taker.isFull()) return { ...taker.result(), encoding };
  if (!hadMore) throw offsetPastEndError(window.offset, skipper.lines());
  return { ...taker.result(), encoding, totalLines: window.offset - 1 + taker.result().lines.length };
}

/** Skips whole lines, by bytes. */
function createSkipper(count: number) {
  let [passed, isAtStart] = [0, true];
  return {
    /** Returns where the line after the skipped ones begins, or the end of the chunk. */
    skip(chunk: Buffer): number {
      let at = 0;
      while (passed < count) {
        const found = chunk.indexOf(newline, at);
        isAtStart = found === chunk.length - 1;
        if (found === -1) return chunk.length;
        at = found + 1;
        passed += 1;
      }
      return at;
    },
    lines: () => passed + (isAtStart ? 0 : 1),
  };
}

/** Decodes lines and stores the shown part of each. */
function createTaker({ limit, column, offset }: LineWindow) {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const lines: WindowLine[] = [];
  let [part, length, last, total, lossy, isOpen] = ['', 0, '', 0, false, false];
  let isFull = false;

  return {
    /** Returns whether the window is full and there is more. */
    take(bytes: Buffer): boolean {
      const text = decoder.decode(bytes, { stream: true });
      lossy ||= text.includes('\uFFFD');
      return consume(text);
    },
    /** Ends the last line. Returns whether there were any lines. */
    end(): boolean {
      consume(decoder.decode());
      if (isOpen) closeLine('');
      return lines.length > 0;
    },
    /** Whether a line was left out because of the size limit. */
    isFull: () => isFull,
    result: () => ({ lines, lossy }),
  };

  function consume(text: string): boolean {
    for (let at = 0; at < text.length; ) {
      if (isEnough()) return true;
      const found = text.indexOf('\n', at);
      add(text.slice(at, found === -1 ? text.length : found));
      if (found === -1) return false;
      closeLine('\n');
      at = found + 1;
    }
    return false;
  }

  function isEnough(): boolean {
    return lines.length >= limit || isFull;
  }

  function add(piece: string): void {
    isOpen = true;
    const skipped = Math.max(0, column - 1 - length);
    // One character more than is shown, to see whether the cut would split a character.
    if (part.length <= maxLineLength) part += piece.slice(skipped, skipped + maxLineLength + 1 - part.length);
    length += piece.length;
    last = piece.at(-1) ?? last;
  }

  function closeLine(ending: '\n' | ''): void {
    const isCrlf = ending === '\n' && last === '\r';
    if (isCrlf) length -= 1;
    const whole = part.slice(0, Math.max(0, length - (column - 1)));
    const shown = cutText(whole, maxLineLength);
    total += lineCost(shown, offset + lines.length);
    isFull = lines.length > 0 && total > maxShownBytes;
    if (!isFull) lines.push({ part: shown, length, ending: isCrlf ? '\r\n' : ending });
    [part, length, last, isOpen] = ['', 0, '', false];
  }
}
