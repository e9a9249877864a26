import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expectCheap } from '../../../test/support/expect-cheap.ts';
import { type CountedRange, coveredLines } from './covered-lines.ts';

function rangesOf(text: string, ...parts: [part: string, count: number][]): CountedRange[] {
  const inner = parts.map(([part, count]) => ({
    start: text.indexOf(part),
    end: text.indexOf(part) + part.length,
    count,
  }));
  return [{ start: 0, end: text.length, count: 1 }, ...inner];
}

test('an inner range overrides the outer one, at any depth', () => {
  const text = 'a\nb\nc\nd\ne\n';
  expect(coveredLines(text, rangesOf(text, ['b\nc\nd', 0], ['c', 3]))).toEqual([1, 3, 5]);
});

test('the order of ranges does not matter', () => {
  const text = 'a\nb\nc\n';
  expect(coveredLines(text, rangesOf(text, ['b', 0]).reverse())).toEqual([1, 3]);
});

test('a line that ran in part counts as run', () => {
  const text = 'const x = ok ? yes() : no();\n';
  expect(coveredLines(text, rangesOf(text, [': no()', 0]))).toEqual([1]);
});

test('brackets around code that did not run do not count as run', () => {
  const body = 'function f() {\n  return 1;\n}';
  const text = `export ${body}\n\n// why\n`;
  expect(coveredLines(text, rangesOf(text, [body, 0]))).toEqual([]);
  const taken = 'if (x) {\n  y();\n}';
  expect(coveredLines(taken, rangesOf(taken, ['{\n  y();\n', 0]))).toEqual([1]);
});

test('lines are numbered as in the file if they end in CR LF', () => {
  const text = 'a\r\nb\r\nc\r\n';
  expect(coveredLines(text, rangesOf(text, ['b', 0]))).toEqual([1, 3]);
});

/** A simple model: each character takes the count of its innermost range. */
function byHand(text: string, ranges: readonly CountedRange[]): number[] {
  const counts = [...text].map((_, at) => {
    const around = ranges.filter(({ start, end }) => start <= at && at < end);
    return around.sort((a, b) => a.end - a.start - (b.end - b.start))[0]?.count ?? 0;
  });
  let at = 0;
  return text.split('\n').flatMap((line, index) => {
    const isRun = [...line].some((_, column) => (counts[at + column] ?? 0) > 0);
    at += line.length + 1;
    return isRun ? [index + 1] : [];
  });
}

/** Generates nested ranges as V8 does: halves of halves, each present or not. */
const nested = fc.letrec<{ ranges: CountedRange[] }>((tie) => ({
  ranges: fc
    .tuple(
      fc.nat(2),
      fc.option(tie('ranges'), { maxDepth: 4, nil: [] }),
      fc.option(tie('ranges'), { maxDepth: 4, nil: [] }),
    )
    .map(([count, left, right]) => [
      { start: 0, end: 64, count },
      ...left.map((range) => ({ ...range, start: range.start / 2, end: range.end / 2 })),
      ...right.map((range) => ({ ...range, start: 32 + range.start / 2, end: 32 + range.end / 2 })),
    ]),
})).ranges;

test('agrees with counting by hand, for any nested ranges', () => {
  const text = fc
    .array(fc.constantFrom('x', 'x', '\n'), { minLength: 64, maxLength: 64 })
    .map((chars) => chars.join(''));
  fc.assert(
    fc.property(text, nested, (source, ranges) => {
      const whole = ranges.map((range) => ({ ...range, start: Math.floor(range.start), end: Math.floor(range.end) }));
      const real = whole.filter(({ start, end }) => end > start);
      const unique = [...new Map(real.reverse().map((range) => [`${range.start}-${range.end}`, range])).values()];
      expect(coveredLines(source, unique)).toEqual(byHand(source, unique));
    }),
  );
});

test('any ranges over any text are counted without an exception, and only lines with a part that ran', () => {
  const range = fc.record({ start: fc.nat(80), end: fc.nat(80), count: fc.integer({ min: -1, max: 2 }) });
  fc.assert(
    fc.property(fc.string({ maxLength: 60 }), fc.array(range), (text, ranges) => {
      const lines = coveredLines(text, ranges);
      expect(lines.every((line) => line >= 1 && line <= text.split('\n').length)).toBe(true);
      if (!ranges.some(({ count }) => count > 0)) expect(lines).toEqual([]);
    }),
  );
});

test('a hundred thousand nested ranges take no longer than sorting them', async () => {
  const text = 'x\n'.repeat(100_000);
  const ranges = Array.from({ length: 100_000 }, (_, at) => ({ start: at, end: 200_000 - at, count: at % 2 }));
  expect(coveredLines(text, ranges).length).toBeGreaterThan(0);
  await expectCheap(() => coveredLines(text, ranges), 30);
});
