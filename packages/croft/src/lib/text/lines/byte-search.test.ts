import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createByteSearch } from './byte-search.ts';

const word = fc.constantFrom('a', 'b', 'a'.repeat(200), `${'a'.repeat(130)}b`);
const text = (maxLength: number) => fc.array(word, { minLength: 1, maxLength }).map((words) => words.join(''));

test('gives the same as indexOf, from any start', () => {
  fc.assert(
    fc.property(text(30), text(6), fc.nat(2000), (whole, needle, from) => {
      const [bytes, wanted] = [Buffer.from(whole), Buffer.from(needle)];
      expect(createByteSearch(wanted)(bytes, from)).toBe(from > bytes.length ? -1 : bytes.indexOf(wanted, from));
    }),
    { numRuns: 1000 },
  );
});

test('finds a partial match, also at the very end', () => {
  const bytes = Buffer.from(`${'a'.repeat(400)}b${'a'.repeat(400)}c`);
  for (const start of [0, 1, 150, 401, 500]) {
    const needle = bytes.subarray(start);
    expect(createByteSearch(needle)(bytes, 0)).toBe(start);
  }
});

test('takes little time for a needle made to be slow', () => {
  const [bytes, part] = [Buffer.alloc(8 * 1024 * 1024, 'a'), 'a'.repeat(50_000)];
  const start = performance.now();
  expect(createByteSearch(Buffer.from(`${part}b${part}`))(bytes, 0)).toBe(-1);
  expect(performance.now() - start).toBeLessThan(5000);
});
