import { expect, test } from 'vitest';
import { createColourFilter } from './colours.ts';

const shown = (pieces: readonly string[]) => {
  const filter = createColourFilter();
  return pieces.map((piece) => filter.push(Buffer.from(piece))).join('') + filter.end();
};

test.each([
  ['colours', 'a \x1b[1;38;5;9mred\x1b[0m', 'a \x1b[1;38;5;9mred\x1b[0m\x1b[m'],
  ['a progress bar', '10 %\r\x1b[K20 %\r\ndone\n', '10 %\r\x1b[K20 %\ndone\n'],
  ['text without colours', 'ä€𝄞\n', 'ä€𝄞\n'],
])('a terminal gets %s, however the bytes are cut', (_, text, expected) => {
  expect(shown([text])).toBe(expected);
  for (let at = 0; at < text.length; at++) expect(shown([text.slice(0, at), text.slice(at)])).toBe(expected);
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
  expect(shown([`a${text}b\n`])).toBe('ab\n');
  for (let at = 0; at <= text.length; at++)
    expect(shown([`a${text.slice(0, at)}`, `${text.slice(at)}b\n`])).toBe('ab\n');
});
