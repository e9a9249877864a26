import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toCodePieces } from './highlight-code.ts';

const kindsOf = (line: string, path: string) =>
  toCodePieces(line, path).flatMap(({ text, kind }) => (kind === 'plain' ? [] : [[kind, text]]));

test('keywords, strings, numbers and comments', () => {
  expect(kindsOf("const a = 'x' + 0x1f; // why", 'a.ts')).toEqual([
    ['keyword', 'const'],
    ['string', "'x'"],
    ['number', '0x1f'],
    ['comment', '// why'],
  ]);
  expect(kindsOf('def f(): # why', 'a.py')).toEqual([
    ['keyword', 'def'],
    ['comment', '# why'],
  ]);
  expect(kindsOf('#include <x>', 'a.c')).toEqual([]);
  expect(kindsOf('We return for more, it’s 3', 'README.md')).toEqual([]);
});

test('no line loses a character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (line) => {
      expect(
        toCodePieces(line, 'a.ts')
          .map(({ text }) => text)
          .join(''),
      ).toBe(line);
    }),
  );
});

test('a hostile line costs little', () => {
  const startedAt = performance.now();
  for (const line of ['"\\'.repeat(900), '/*'.repeat(900), '`'.repeat(1900), '-- '.repeat(600)])
    toCodePieces(line, 'a.ts');
  expect(performance.now() - startedAt).toBeLessThan(200);
});
