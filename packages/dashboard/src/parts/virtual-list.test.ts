import { expect, test } from 'vitest';
import { toSparklinePoints } from './sparkline.tsx';
import { findVisibleRows } from './virtual-list.tsx';

test.each([
  [
    { top: 0, height: 280, row: 28, count: 10_000 },
    { start: 0, end: 16 },
  ],
  [
    { top: 2800, height: 280, row: 28, count: 10_000 },
    { start: 94, end: 116 },
  ],
  [
    { top: 280_000, height: 280, row: 28, count: 10_000 },
    { start: 9994, end: 10_000 },
  ],
  [
    { top: 500, height: 280, row: 28, count: 3 },
    { start: 0, end: 3 },
  ],
  [
    { top: 0, height: 280, row: 28, count: 0 },
    { start: 0, end: 0 },
  ],
])('%j shows %j', (view, rows) => {
  expect(findVisibleRows(view)).toEqual(rows);
});

test('a sparkline ends at the right edge, and stays inside', () => {
  expect(toSparklinePoints([0, 50, 400], 100, 3)).toBe('0.0,19.0 48.0,10.0 96.0,1.0');
  expect(toSparklinePoints([1, 1], 0, 3)).toBe('48.0,19.0 96.0,19.0');
});
