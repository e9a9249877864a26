import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { createShortLivedCache } from './short-lived-cache.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
});

test('is found once for all who ask at once, and anew a moment later', () => {
  const recent = createShortLivedCache<number>();
  let found = 0;
  const find = () => ++found;
  expect([recent(find), recent(find)]).toEqual([1, 1]);
  vi.advanceTimersByTime(60);
  expect(recent(find)).toBe(2);
});

test('whoever asks again and again is told what is new', () => {
  const recent = createShortLivedCache<number>();
  let found = 0;
  for (let asked = 0; asked < 10; asked++) {
    recent(() => ++found);
    vi.advanceTimersByTime(20);
  }
  expect(found).toBeGreaterThan(2);
});

test('one is not told what another asked for', () => {
  const recent = createShortLivedCache<string>();
  expect(recent(() => 'of one', '1')).toBe('of one');
  expect(recent(() => 'of another', '2')).toBe('of another');
});

test('what is not there or cannot be found is not kept', () => {
  const recent = createShortLivedCache<string | undefined>();
  expect(recent(() => undefined)).toBe(undefined);
  const fail = () => {
    throw new Error('not found');
  };
  expect(() => recent(fail)).toThrow('not found');
  expect(recent(() => 'there now')).toBe('there now');
});
