import { expect, test } from 'vitest';
import { createBackoff, defaultBackoff } from './backoff.ts';

test('pauses double up to the maximum, are random below it, and start again after a reset', () => {
  const longest = createBackoff(defaultBackoff, () => 1);
  expect(Array.from({ length: 8 }, () => longest.next())).toEqual([
    1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000,
  ]);
  expect(longest.next(true)).toBe(2000);
  longest.reset();
  expect(longest.next()).toBe(1000);
  expect(createBackoff(defaultBackoff, () => 0).next()).toBe(0);
});

test('an error that a person has to fix is retried slowly', () => {
  expect(createBackoff(defaultBackoff, () => 0).slow()).toBe(30_000);
  expect(createBackoff(defaultBackoff, () => 1).slow()).toBe(60_000);
});
