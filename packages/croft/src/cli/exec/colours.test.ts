import { expect, test } from 'vitest';
import { createColourFilter } from './colours.ts';

/** What a terminal gets of a text whose bytes come in two pieces. */
function shown(text: string, cut = 0): string {
  const [filter, bytes] = [createColourFilter(), Buffer.from(text)];
  return filter.push(bytes.subarray(0, cut)) + filter.push(bytes.subarray(cut)) + filter.end();
}

const cuts = (text: string) => Array.from(Buffer.from(text).keys());

test.each([
  ['colours', 'a \x1b[1;38;5;9mred\x1b[0m', 'a \x1b[1;38;5;9mred\x1b[0m\x1b[m'],
  ['a progress bar', '10 %\r\x1b[K20 %\r\ndone\n', '10 %\r\x1b[K20 %\ndone\n'],
  ['text without colours', 'ä€𝄞\n', 'ä€𝄞\n'],
])('a terminal gets %s, however the bytes are cut', (_, text, expected) => {
  for (const cut of cuts(text)) expect(shown(text, cut)).toBe(expected);
});

test.each([
  ['writes into the clipboard', '\x1b]52;c;aGVsbG8=\x07'],
  ['sets the title', '\x1b]0;title\x1b\\'],
  ['moves the cursor up', '\x1b[3A'],
  ['clears the screen', '\x1b[2J\x1b[H'],
  ['asks the terminal', '\x1b[6n\x1bPq\x1b\\'],
  ['has another screen', '\x1b[?1049h'],
  ['turns text around', '\u202e'],
  ['is eight-bit', '\u009b31m'],
])('nothing that %s', (_, text) => {
  const line = `a${text}b\n`;
  for (const cut of cuts(line)) expect(shown(line, cut)).toBe('ab\n');
});
