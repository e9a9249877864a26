import { StringDecoder } from 'node:string_decoder';
import { createControlStripper } from '../../lib/text/strip-control-sequences.ts';

const escapeChar = '\x1b';
/** Matches colours, and what progress bars need: the end of the line is erased, or the line is written again. */
const kept = new RegExp(`(${escapeChar}\\[[\\d;:]*[mK]|\\r(?!\\n))`);
/** Matches the beginning of one, which the next piece may complete. */
const unfinished = new RegExp(`(?:${escapeChar}(?:\\[[\\d;:]{0,64})?|\\r)$`);
const colour = new RegExp(`${escapeChar}\\[[\\d;:]*m`);
const plainAgain = `${escapeChar}[m`;

/**
 * Creates a filter for bytes that a terminal shows: text with its colours. Left out is everything else that a terminal
 * obeys, because a command could otherwise write over what stands above it, or into the clipboard.
 */
export function createColourFilter() {
  const decoder = new StringDecoder('utf8');
  const strip = createControlStripper();
  let [held, isColoured] = ['', false];
  return {
    push(bytes: Uint8Array): string {
      const text = held + decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
      held = unfinished.exec(text)?.[0] ?? '';
      const parts = text.slice(0, text.length - held.length).split(kept);
      isColoured ||= parts.some((part) => colour.test(part));
      return parts.map((part, index) => (index % 2 === 1 ? part : strip(part))).join('');
    },
    /** Returns the rest of the output, and ends the colours of the command if it used any. */
    end: () => strip(decoder.end()) + strip.flush() + (isColoured ? plainAgain : ''),
  };
}
