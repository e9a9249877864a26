import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { type Stall, watchStalls } from './watch-stalls.ts';

test('reports how long the thread was blocked, and that it was computing', async () => {
  const stalls: Stall[] = [];
  using _ = watchStalls({ leastMs: 150, onStall: (stall) => stalls.push(stall) });
  await sleep(50);
  for (const until = performance.now() + 400; performance.now() < until; );
  await vi.waitFor(() => expect(stalls.length).toBeGreaterThan(0));
  expect(stalls[0]?.durationMs).toBeGreaterThan(300);
  expect(stalls[0]?.processorMs).toBeGreaterThan(10);
});

test('a thread that waits is not reported as blocked', async () => {
  const stalls: Stall[] = [];
  using _ = watchStalls({ leastMs: 1500, onStall: (stall) => stalls.push(stall) });
  await sleep(2000);
  expect(stalls).toEqual([]);
});
