import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createOutputRateLimit } from './output-rate-limit.ts';

const megabyte = 1024 * 1024;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Returns the megabytes that a sandbox sends in this many seconds if it sends as fast as it may. */
function floodFor(seconds: number, pace = createOutputRateLimit()): number {
  let [sent, isOver] = [0, false];
  const send = () => {
    if (isOver) return;
    sent += 1;
    pace.wait(megabyte, send);
  };
  send();
  vi.advanceTimersByTime(seconds * 1000);
  isOver = true;
  return sent;
}

test('the first megabytes are not slowed down', () => {
  const pace = createOutputRateLimit();
  let allowed = 0;
  for (let sent = 0; sent < 32; sent++) pace.wait(megabyte, () => allowed++);
  expect(allowed).toBe(32);
});

test('a flood is slowed down to a limited rate', () => {
  const sent = floodFor(10);
  expect(sent).toBeGreaterThan(32 + 75);
  expect(sent).toBeLessThan(32 + 85);
});

test('a sandbox that was quiet may send as much at once as a new sandbox', () => {
  const pace = createOutputRateLimit();
  floodFor(5, pace);
  vi.advanceTimersByTime(10_000);
  let allowed = 0;
  for (let sent = 0; sent < 30; sent++) pace.wait(megabyte, () => allowed++);
  expect(allowed).toBe(30);
});
