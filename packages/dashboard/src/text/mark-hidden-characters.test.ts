import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hasUnseen, toMarkedPieces, toOneLine, toSpeltPieces } from './mark-hidden-characters.ts';

const marksOf = (text: string) => toMarkedPieces(text).flatMap(({ text: mark, meaning }) => (meaning ? [mark] : []));

test.each([
  ['\u001b[31m', ['ESC']],
  ['a\u202eb', ['U+202E']],
  ['a\u200bb\u200d\ufeff', ['U+200B', 'U+200D', 'U+FEFF']],
  ['\u2066x\u2069', ['U+2066', 'U+2069']],
  ['a\rb\0\u007f\u0085', ['CR', 'NUL', 'U+007F', 'U+0085']],
  ['tag\u{e0041}', ['U+E0041']],
  ['no-break\u00a0and\u3000wide', ['U+00A0', 'U+3000']],
  ['Hangul filler \u3164', ['U+3164']],
  ['e\ufe0f', ['U+FE0F']],
  ['half \ud800 pair', ['U+D800']],
])('%j shows %j', (text, marks) => {
  expect(marksOf(text)).toEqual(marks);
});

test.each(['plain text', 'a\tb\nc', 'Grüße, 漢字, عربى, e\u0301', '🚀'])('%j has nothing to mark', (text) => {
  expect(toMarkedPieces(text)).toEqual([{ text }]);
  expect(hasUnseen(text)).toBe(false);
});

test('no text loses a character that is seen, and no mark is left unmarked', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const pieces = toMarkedPieces(text);
      const seen = pieces.filter(({ meaning }) => meaning === undefined).map((piece) => piece.text);
      expect(seen.some(hasUnseen)).toBe(false);
      expect([...seen.join('')].every((character) => text.includes(character))).toBe(true);
    }),
  );
});

test('one line for a list', () => {
  expect(toOneLine('a\n  b\n')).toBe('a ⏎ b ⏎ ');
  expect(toOneLine('x'.repeat(400))).toHaveLength(301);
});

test('what the server has spelt out is a mark too', () => {
  const pieces = toSpeltPieces('a<U+202E>b<U+1B>\u200b');
  expect(pieces.map(({ text, meaning }) => [text, meaning !== undefined])).toEqual([
    ['a', false],
    ['U+202E', true],
    ['b<U+1B>', false],
    ['U+200B', true],
  ]);
});
