import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expectCheap } from '../../../test/support/expect-cheap.ts';
import { createControlStripper, stripControlSequences } from './strip-control-sequences.ts';

test.each([
  ['plain text', 'a b\tc\nd é 😀 – ok', 'a b\tc\nd é 😀 – ok'],
  ['colours', '\x1b[1;31mred\x1b[0m \x1b[38:2::1:2:3mx\x1b[m', 'red x'],
  ['cursor moves and modes', '\x1b[2J\x1b[?25l\x1b[10;20Ha\x1b[ q\x1b[!pb', 'ab'],
  ['a title, ended by BEL', '\x1b]0;title\x07after', 'after'],
  ['a link, ended by ST', '\x1b]8;;https://x.y/z\x1b\\text\x1b]8;;\x1b\\', 'text'],
  ['a string ended by the eight-bit ST', '\x1b]0;title\x9cafter', 'after'],
  ['DCS over lines, APC, PM, SOS', '\x1bPq#0\n-\x1b\\a\x1b_G1\x1b\\b\x1b^x\x07c\x1bXy\x1b\\d', 'abcd'],
  ['a nested escape in a string', '\x1bPtmux;\x1b\x1b]0;t\x07\x1b\\after', 'after'],
  ['a string broken off', '\x1b]0;title\x18after', 'after'],
  ['a string that the end of the line ends', '\x1b]0;title\nafter', '\nafter'],
  ['charset designators', '\x1b(Ba\x1b)0b\x1b$(Cc\x1b%Gd\x1b#8e', 'abcde'],
  ['other escapes', '\x1b7a\x1b8b\x1b=c\x1bMd\x1bce\x1b\x1b[1mf', 'abcdef'],
  ['C0 and DEL', 'a\0b\x07c\x08d\x0be\x0cf\x7fg', 'abcdefg'],
  ['C1', 'a\x80b\x85c\x90d\x9de\x9bf', 'abcdef'],
  ['an eight-bit CSI', '\x9b31mred\x9b0m', 'red'],
  ['line ends', 'a\rb\r\nc\n\rd\r\re\r', 'a\nb\nc\n\nd\n\ne\n'],
  ['a sequence broken by text', '\x1b[31é', 'é'],
  ['a sequence broken by a new line', '\x1b[31\nx', '\nx'],
  ['an escape before a letter beyond ASCII', '\x1bé', 'é'],
  ['an escape at the end', 'a\x1b', 'a'],
  ['an open sequence at the end', 'a\x1b[31', 'a'],
  ['overrides and isolates', 'a\u202eb\u202c\u2066c\u2069d\u200ee', 'abcd\u200ee'],
])('%s', (_, text, plain) => {
  expect(stripControlSequences(text)).toBe(plain);
});

test('a CR at the end of a chunk waits for the next character', () => {
  const strip = createControlStripper();
  expect(strip('a\r')).toBe('a');
  expect(strip('\nb\r')).toBe('\nb');
  expect(strip('c\r')).toBe('\nc');
  expect(strip.flush()).toBe('\n');
  expect(strip.flush()).toBe('');
});

test('the end of a stream drops an open sequence and resets the state', () => {
  const strip = createControlStripper();
  expect(strip('a\x1b]0;tit')).toBe('a');
  expect(strip.flush()).toBe('');
  expect(strip('le')).toBe('le');
});

test('an unterminated string hides at most a megabyte', () => {
  const text = `\x1bP${'x'.repeat(1024 * 1024)}`;
  expect(stripControlSequences(`${text}seen`)).toBe('seen');
  const strip = createControlStripper();
  expect([...`${text}seen`.matchAll(/[\s\S]{1,1000}/g)].map(([chunk]) => strip(chunk)).join('')).toBe('seen');
});

const unit = fc.constantFrom(
  ...['\x1b', '[', ']', '3', ';', 'm', '\\', '\x07', '\r', '\n', 'P', '(', 'B', ' ', 'é', '\x9b', '\x9c', '\x18', 'x'],
);
const noise = fc.oneof(fc.string({ unit, maxLength: 60 }), fc.string({ unit: 'binary', maxLength: 60 }));

test('the result does not depend on the chunks', () => {
  fc.assert(
    fc.property(noise, fc.array(fc.nat(60)), (text, cuts) => {
      const strip = createControlStripper();
      const positions = [0, ...cuts.sort((a, b) => a - b), text.length];
      const parts = positions.slice(1).map((end, index) => strip(text.slice(positions[index], end)));
      expect(parts.join('') + strip.flush()).toBe(stripControlSequences(text));
    }),
    { numRuns: 3000 },
  );
});

test('only plain text comes out, and plain text stays the same', () => {
  fc.assert(
    fc.property(noise, (text) => {
      const plain = stripControlSequences(text);
      expect(plain).not.toMatch(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/u);
      expect(stripControlSequences(plain)).toBe(plain);
    }),
    { numRuns: 3000 },
  );
});

test('colours are removed as Node removes them', () => {
  const sequence = fc.constantFrom('\x1b[0m', '\x1b[1;32m', '\x1b[2K', '\x1b]8;;http://a.b\x07', '\x1b[?1049h');
  const word = fc.string({ unit: fc.constantFrom('a', 'é', ' ', '\n', '7', ';') });
  fc.assert(
    fc.property(fc.array(fc.oneof(sequence, word)), (parts) => {
      expect(stripControlSequences(parts.join(''))).toBe(stripVTControlCharacters(parts.join('')));
    }),
  );
});

test.each([
  ['escapes', '\x1b'],
  ['introducers', '\x1b['],
  ['strings', '\x1b]'],
  ['device strings', '\x1bP\x1b'],
  ['returns', '\r'],
  ['parameters', '1;'],
  ['eight-bit introducers', '\x9b1'],
  ['short sequences', '\x1b[mx'],
])('a megabyte of %s takes little time', async (_, piece) => {
  const text = `\x1b[${piece.repeat(1024 ** 2 / piece.length)}`;
  await expectCheap(() => stripControlSequences(text), 60);
});
