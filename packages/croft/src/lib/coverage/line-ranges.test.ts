import fc from 'fast-check';
import { expect, test } from 'vitest';
import { includesLine, toRanges } from './line-ranges.ts';

test('adjacent lines become one range, whatever their order', () => {
  expect(toRanges([7, 3, 1, 2, 2])).toBe('1-3,7');
  expect(toRanges([])).toBe('');
});

test('the ranges hold exactly the given lines', () => {
  const line = fc.integer({ min: 1, max: 40 });
  fc.assert(
    fc.property(fc.array(line), line, (lines, asked) => {
      expect(includesLine(toRanges(lines), asked)).toBe(lines.includes(asked));
    }),
  );
});

test('any text can be read as ranges without an exception', () => {
  fc.assert(fc.property(fc.string(), fc.nat(), (text, line) => typeof includesLine(text, line) === 'boolean'));
  expect(includesLine('', 0)).toBe(false);
});
