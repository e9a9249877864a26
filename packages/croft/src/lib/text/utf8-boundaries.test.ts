import fc from 'fast-check';
import { expect, test } from 'vitest';
import { wholeCharsEnd, wholeCharsStart } from './utf8-boundaries.ts';

test('a text cut anywhere decodes to whole characters of it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(), (text, seed) => {
      const bytes = Buffer.from(text);
      const cut = bytes.length === 0 ? 0 : seed % bytes.length;
      const left = bytes.subarray(0, cut);
      const right = bytes.subarray(cut);
      const head = left.subarray(0, wholeCharsEnd(left)).toString();
      const tail = right.subarray(wholeCharsStart(right)).toString();
      expect(text.startsWith(head)).toBe(true);
      expect(text.endsWith(tail)).toBe(true);
      expect(Buffer.byteLength(head) + Buffer.byteLength(tail)).toBeGreaterThanOrEqual(bytes.length - 4);
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ['nothing', [], 0, 0],
  ['ASCII', [97, 98], 2, 0],
  ['a lone lead', [97, 0xe2], 1, 0],
  ['two of three bytes', [97, 0xe2, 0x82], 1, 0],
  ['three of four bytes', [0xf0, 0x9f, 0x98], 0, 0],
  ['a whole character', [0xe2, 0x82, 0xac], 3, 0],
  ['the rest of a character', [0x82, 0xac, 97], 3, 2],
  ['bytes that are no text', [0xff, 0xff], 2, 0],
  ['continuations without end', [0x80, 0x80, 0x80, 0x80, 0x80], 5, 3],
])('%s', (_, values, end, start) => {
  const bytes = Uint8Array.from(values);
  expect([wholeCharsEnd(bytes), wholeCharsStart(bytes)]).toEqual([end, start]);
});
