import type { Writable } from 'node:stream';
import { styleText } from 'node:util';

/** Colours on a terminal that has them, and never with `NO_COLOR` or in a pipe. */
export function paint(stream: Writable, colour: 'green' | 'red' | 'cyan' | 'bold' | 'dim', text: string): string {
  return styleText(colour, text, { stream, validateStream: true });
}
