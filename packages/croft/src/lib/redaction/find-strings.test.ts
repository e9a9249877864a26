import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expectCheap } from '../../../test/support/expect-cheap.ts';
import { createStringFinder } from './find-strings.ts';

function coverage(matches: { needle: string; start: number }[]): Set<number> {
  return new Set(matches.flatMap(({ needle, start }) => Array.from(needle, (_, index) => start + index)));
}

function findNaively(needles: string[], text: string) {
  return needles.flatMap((needle) =>
    [...text].flatMap((_, start) => (text.startsWith(needle, start) ? [{ needle, start }] : [])),
  );
}

function find(needles: string[], text: string) {
  const matches: { needle: string; start: number }[] = [];
  createStringFinder(needles)(text, (needle, start) => matches.push({ needle, start }));
  return matches;
}

const unit = fc.constantFrom('a', 'b', 'c', 'é', '漢');
const needles = fc.array(fc.string({ unit, minLength: 3, maxLength: 20 }), { maxLength: 8 });

test('finds what a naive search finds, and nothing else', () => {
  const text = fc.string({ unit, maxLength: 200 });
  fc.assert(
    fc.property(
      needles,
      fc.array(
        fc.oneof(
          text,
          needles.map((list) => list.join('')),
        ),
      ),
      (list, parts) => {
        const whole = [...parts, ...list, ...list].join('');
        const matches = find(list, whole);
        for (const { needle, start } of matches) expect(whole.startsWith(needle, start)).toBe(true);
        expect(coverage(matches)).toEqual(coverage(findNaively(list, whole)));
      },
    ),
    { numRuns: 2000 },
  );
});

test.each([
  ['nothing to find', [], 'abc', []],
  ['too short to be found', ['ab'], 'ab', []],
  ['longer than the text', ['abcd'], 'abc', []],
  ['the whole text', ['abc'], 'abc', [{ needle: 'abc', start: 0 }]],
  ['the longest of several at one place', ['abc', 'abcd'], 'xabcd', [{ needle: 'abcd', start: 1 }]],
  [
    'overlapping places',
    ['aba'],
    'ababa',
    [
      { needle: 'aba', start: 0 },
      { needle: 'aba', start: 2 },
    ],
  ],
])('%s', (_, list, text, matches) => {
  expect(find(list, text)).toEqual(matches);
});

test('many needles with the same beginning are searched in little time', async () => {
  const alike = Array.from({ length: 900 }, (_, index) => `${'a'.repeat(60)}-${index}`);
  const search = createStringFinder(alike);
  const text = 'a'.repeat(100_000);
  await expectCheap(() => search(text, () => {}), 12);
});
