import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expectCheap } from '../../../test/support/expect-cheap.ts';
import { mappedLines } from './mapped-lines.ts';
import { decodeMappings } from './source-map.ts';

const source = `enum E { A, B }
export function f(x: number): E {
  if (x > 3) {
    return E.B;
  }
  return E.A;
}
`;

/** Recorded from tsx and Node 20 while `f(1)` ran; tsx puts the whole program on one line. */
const recorded = {
  lineLengths: [38, 973, 4, 0, 530],
  mappings:
    ';suBAAA,0FAAK,GAAAA,IAAL,CAASA,MAAA,YAAGA,MAAA,YAAP,OAAAA,KAAA,OACE,SAAS,EAAE,EAAc,CAC9B,GAAI,EAAI,EAAG,CACT,MAAO,EACT,CACA,MAAO,EACT,CALgB',
  sources: [source],
};
const ranges = [
  { start: 0, end: 1549, count: 1 },
  { start: 33, end: 1014, count: 1 },
  { start: 989, end: 1011, count: 0 },
  { start: 874, end: 925, count: 1 },
  { start: 934, end: 974, count: 1 },
  { start: 955, end: 965, count: 0 },
];

test('gives the source lines with a mapped piece that ran, without lines of only brackets', () => {
  expect(mappedLines(recorded, ranges)).toEqual([[1, 2, 3, 6]]);
});

test('a function that was not called counts only by its declaration', () => {
  const missed = ranges.map((range) => (range.start === 934 ? { ...range, count: 0 } : range));
  expect(mappedLines(recorded, missed)).toEqual([[1, 2]]);
});

test('decodes numbers of one digit and of several, with both signs', () => {
  expect([...decodeMappings('AAAA,gBAEC;;ADDA')]).toEqual([
    { line: 0, column: 0, source: 0, sourceLine: 0, sourceColumn: 0 },
    { line: 0, column: 16, source: 0, sourceLine: 2, sourceColumn: 1 },
    { line: 2, column: 0, source: -1, sourceLine: 1, sourceColumn: 1 },
  ]);
});

test('any mappings of any text are read without an exception', () => {
  const text = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom('A', 'C', 'D', 'g', ',', ';', '/') }));
  fc.assert(
    fc.property(text, fc.array(fc.nat(20)), (mappings, lineLengths) => {
      const [lines = []] = mappedLines({ mappings, lineLengths, sources: ['a\nb\n'] }, [
        { start: 0, end: 99, count: 1 },
      ]);
      expect(lines.every((line) => line === 1 || line === 2)).toBe(true);
    }),
  );
});

test('a million mappings of one line of a million letters are read quickly', async () => {
  const mappings = `AAAA${',CAAA'.repeat(1_000_000)}`;
  const made = { mappings, lineLengths: [2_000_000], sources: [' '.repeat(1_000_000)] };
  const read = () => mappedLines(made, [{ start: 0, end: 2_000_000, count: 1 }]);
  expect(read()).toEqual([[]]);
  await expectCheap(read, 500);
});
