import { looksBinary } from '../../lib/image-type.ts';
import { cutText } from '../../lib/text/cut-text.ts';
import { type LineWindow, maxLineLength, maxTextLength, pastTheEnd, type WindowLine } from './read-window.ts';

const newline = 10;

/**
 * Finds a window in a file that is too large to hold, reading no further than it must and keeping no more of a
 * line than is shown. Each chunk is done with before the next is asked for.
 */
export async function readLarge(chunks: AsyncIterable<Buffer>, window: LineWindow, signal: AbortSignal) {
  const skipper = createSkipper(window.offset - 1);
  const taker = createTaker(window);
  let isFirst = true;
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    if (isFirst && looksBinary(chunk)) return 'binary';
    isFirst = false;
    const start = skipper.skip(chunk);
    if (start < chunk.length && taker.take(chunk.subarray(start))) return taker.result();
  }
  const hadMore = taker.end();
  if (!hadMore) throw pastTheEnd(window.offset, skipper.lines());
  return { ...taker.result(), totalLines: window.offset - 1 + taker.result().lines.length };
}

/** Passes over whole lines, by bytes. */
function createSkipper(count: number) {
  let [passed, isAtStart] = [0, true];
  return {
    /** Where the line after the last one to skip begins, or the end of the chunk. */
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

/** Decodes lines and keeps of each what is shown. */
function createTaker({ limit, column }: LineWindow) {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const lines: WindowLine[] = [];
  let [part, length, last, total, lossy, isOpen] = ['', 0, '', 0, false, false];

  return {
    /** Whether that was enough, and there is more. */
    take(bytes: Buffer): boolean {
      const text = decoder.decode(bytes, { stream: true });
      lossy ||= text.includes('\uFFFD');
      return consume(text);
    },
    /** Whether there was anything at all. */
    end(): boolean {
      consume(decoder.decode());
      if (isOpen) closeLine('');
      return lines.length > 0;
    },
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
    return lines.length >= limit || (lines.length > 0 && total > maxTextLength);
  }

  function add(piece: string): void {
    isOpen = true;
    const skipped = Math.max(0, column - 1 - length);
    // One more than is shown, to see whether the cut would split a character.
    if (part.length <= maxLineLength) part += piece.slice(skipped, skipped + maxLineLength + 1 - part.length);
    length += piece.length;
    last = piece.at(-1) ?? last;
  }

  function closeLine(ending: '\n' | ''): void {
    const isCrlf = ending === '\n' && last === '\r';
    if (isCrlf) length -= 1;
    const whole = part.slice(0, Math.max(0, length - (column - 1)));
    lines.push({ part: cutText(whole, maxLineLength), length, ending: isCrlf ? '\r\n' : ending });
    total += Math.min(whole.length, maxLineLength);
    [part, length, last, isOpen] = ['', 0, '', false];
  }
}
