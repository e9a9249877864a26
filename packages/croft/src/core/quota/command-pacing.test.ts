import { expect, test } from 'vitest';
import { createCommandPacing } from './command-pacing.ts';

const pauseMs = 200;
const { signal } = new AbortController();

async function measure(work: Promise<void>): Promise<number> {
  const since = performance.now();
  await work;
  return performance.now() - since;
}

test('on a nearly full disk, commands of the account that fills it start one after the other', async () => {
  const pacing = createCommandPacing(() => true, pauseMs);
  pacing.reportGrowth();
  const waits = await Promise.all([1, 2, 3].map(() => measure(pacing.waitForTurn(signal))));
  // A timer may end a millisecond early.
  for (const [index, wait] of waits.entries()) expect(wait).toBeGreaterThan((index + 1) * pauseMs - 5);
});

test('the queue of commands is limited, and a cancelled command leaves it', async () => {
  const pacing = createCommandPacing(() => true, 60_000);
  pacing.reportGrowth();
  const ending = new AbortController();
  const waiting = Promise.allSettled([1, 2, 3, 4, 5].map(() => pacing.waitForTurn(ending.signal)));
  await expect(pacing.waitForTurn(signal)).rejects.toMatchObject({
    code: 'E_STORAGE_FULL',
    hint: expect.stringContaining('the tool delete'),
  });
  ending.abort();
  expect((await waiting).map(({ status }) => status)).toEqual(Array(5).fill('rejected'));
});

test('no command waits while the disk has space, or if its account did not fill the disk', async () => {
  const roomy = createCommandPacing(() => false, 60_000);
  roomy.reportGrowth();
  await roomy.waitForTurn(signal);
  const other = createCommandPacing(() => true, 60_000);
  await Promise.all(Array.from({ length: 20 }, () => other.waitForTurn(signal)));
});
