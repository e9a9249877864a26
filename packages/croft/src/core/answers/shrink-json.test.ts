import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createJsonSizes, jsonBytes } from './json-size.ts';
import { shrinkJson } from './shrink-json.ts';

const maxBytes = 3000;

test('the result fits, has the same kind, and equals the input if that fitted already', () => {
  const text = fc.string({ unit: 'binary', maxLength: 2000 });
  const leaf = fc.oneof(text, fc.double(), fc.constant(null), fc.boolean());
  const row = fc.dictionary(fc.string({ maxLength: 30 }), leaf, { maxKeys: 8 });
  const list = fc.array(fc.oneof(leaf, row), { maxLength: 40 });
  const value = fc.dictionary(fc.string({ maxLength: 30 }), fc.oneof(leaf, row, list), { maxKeys: 12 });
  fc.assert(
    fc.property(value, (before) => {
      const after = shrinkJson(before, maxBytes);
      expect(jsonBytes(after)).toBeLessThanOrEqual(maxBytes);
      if (jsonBytes(before) <= maxBytes) expect(after).toBe(before);
      for (const name of Object.keys(after))
        expect(Object.prototype.toString.call(after[name])).toBe(Object.prototype.toString.call(before[name]));
    }),
  );
});

test('the size of every part is that of its JSON', () => {
  const value = fc.jsonValue({ maxDepth: 5, stringUnit: 'binary' });
  const further = fc.constantFrom<unknown>(
    undefined,
    { a: undefined },
    [undefined],
    { toJSON: () => 'x' },
    { toJSON: 1 },
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(value, further)), (all) => {
      const sizeOf = createJsonSizes();
      for (const one of [...all, all, { all }]) expect(sizeOf(one)).toBe(jsonBytes(one));
    }),
  );
});

test('small parts stay whole, a long text keeps its beginning and its end, and the object is marked as cut', () => {
  const output = `begin ${'é"\n'.repeat(5000)} end`;
  const after = shrinkJson({ exitCode: 3, output, command: ['a', 'b'], truncated: false }, maxBytes);
  expect(after).toMatchObject({ exitCode: 3, command: ['a', 'b'], truncated: true });
  expect(after.output).toMatch(/^begin .*characters left out.* end$/s);
});

test('each of a few large items keeps a part; of many small items the first are kept', () => {
  const few = shrinkJson({ results: ['a', 'b'].map((workspace) => ({ workspace, text: 'x'.repeat(9000) })) }, maxBytes);
  expect(few.results.map(({ workspace }) => workspace)).toEqual(['a', 'b']);
  const many = shrinkJson({ rows: Array.from({ length: 5000 }, (_, index) => ({ index })) }, maxBytes);
  expect(many.rows.slice(0, 2)).toEqual([{ index: 0 }, { index: 1 }]);
  expect(many.rows.length).toBeGreaterThan(100);
});

test.each<[string, Record<string, unknown>]>([
  ['many numbers', Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`a${index}`, index / 7]))],
  ['many flags', Object.fromEntries(Array.from({ length: 9000 }, (_, index) => [String(index), false]))],
  ['lists in lists', { list: nest(20, 4, 'leaf text') }],
  ['lists of numbers in lists', { list: nest(20, 3, 1e15 / 7) }],
  ['rows of many numbers', { list: Array.from({ length: 15 }, () => nest(300, 1, 1e15 / 7)) }],
  ['a long name', { ['k'.repeat(100_000)]: 1, b: 2 }],
  [
    'what grows in JSON',
    { text: '\u0000'.repeat(100_000), lone: '\ud83d'.repeat(100_000), quotes: '"\\'.repeat(50_000) },
  ],
])('%s fit as well', (_what, value) => {
  expect(jsonBytes(shrinkJson(value, maxBytes))).toBeLessThanOrEqual(maxBytes);
});

test('the time depends on the size of a value and not on its depth', () => {
  const deep = (depth: number): unknown => (depth === 0 ? 'x'.repeat(1_000_000) : [deep(depth - 1)]);
  const [shallow, value] = [{ value: deep(1) }, { value: deep(500) }];
  const time = (work: () => unknown) => {
    const start = process.cpuUsage().user;
    work();
    return process.cpuUsage().user - start;
  };
  shrinkJson(shallow, maxBytes);
  const once = time(() => shrinkJson(shallow, maxBytes));
  expect(time(() => shrinkJson(value, maxBytes))).toBeLessThan(20 * once + 50_000);
});

function nest(width: number, depth: number, leaf: unknown): unknown {
  return depth === 0 ? leaf : Array.from({ length: width }, () => nest(width, depth - 1, leaf));
}
