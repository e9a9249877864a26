import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findIgnoringLineEndings } from './find-ignoring-line-endings.ts';

const find = (text: string, needle: string) =>
  findIgnoringLineEndings(Buffer.from(text), needle).map(({ start, end, ending }) => [text.slice(start, end), ending]);

test.each([
  ['a\nb\n', 'a\nb', [['a\nb', '\n']]],
  ['a\r\nb\r\n', 'a\nb', [['a\r\nb', '\r\n']]],
  ['a\r\nb\nc\r\n', 'a\nb\nc', [['a\r\nb\nc', '\r\n']]],
  ['a\nb\r\nc\n', 'a\nb', [['a\nb', '\n']]],
  ['a\r\nb\r\n', 'b', [['b', '\r\n']]],
  [
    'x\r\ny\nx\r\ny\n',
    'x\ny',
    [
      ['x\r\ny', '\r\n'],
      ['x\r\ny', '\r\n'],
    ],
  ],
  ['a\r\nb\r\n', 'a\r\nb', [['a\r\nb', '\r\n']]],
  ['a\rb\n', 'a\rb', [['a\rb', '\n']]],
  ['a\r\n', 'b', []],
])('in %j finds %j', (text, needle, expected) => {
  expect(find(text, needle)).toEqual(expected);
});

const piece = fc.constantFrom('a', 'b', '\n', '\r\n', '\r', 'é');

test('matches differ from the needle only in line ends, and never overlap', () => {
  fc.assert(
    fc.property(fc.array(piece), fc.array(piece, { minLength: 1 }), (text, needle) => {
      const bytes = Buffer.from(text.join(''));
      const fold = (value: string) => value.replaceAll('\r\n', '\n');
      let last = 0;
      for (const { start, end } of findIgnoringLineEndings(bytes, needle.join(''))) {
        expect(start).toBeGreaterThanOrEqual(last);
        expect(fold(bytes.toString('utf8', start, end))).toBe(fold(needle.join('')));
        last = end;
      }
    }),
  );
});
