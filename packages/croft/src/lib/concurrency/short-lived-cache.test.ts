import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { createShortLivedCache } from './short-lived-cache.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
});

test('a value is found once for all concurrent callers, and anew a moment later', () => {
  const recent = createShortLivedCache<number>();
  let found = 0;
  const find = () => ++found;
  expect([recent(find), recent(find)]).toEqual([1, 1]);
  vi.advanceTimersByTime(60);
  expect(recent(find)).toBe(2);
});

test('repeated requests get a new value after its lifetime', () => {
  const recent = createShortLivedCache<number>();
  let found = 0;
  for (let asked = 0; asked < 10; asked++) {
    recent(() => ++found);
    vi.advanceTimersByTime(20);
  }
  expect(found).toBeGreaterThan(2);
});

test('values with different keys are separate', () => {
  const recent = createShortLivedCache<string>();
  expect(recent(() => 'of one', '1')).toBe('of one');
  expect(recent(() => 'of another', '2')).toBe('of another');
});

test('a missing value and a failure are not cached', () => {
  const recent = createShortLivedCache<string | undefined>();
  expect(recent(() => undefined)).toBe(undefined);
  const fail = () => {
    throw new Error('not found');
  };
  expect(() => recent(fail)).toThrow('not found');
  expect(recent(() => 'there now')).toBe('there now');
});
