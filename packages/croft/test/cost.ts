import { expect } from 'vitest';

const words = 'The quick brown fox: jumps over = the lazy dog.\n'.repeat(Math.ceil(1024 ** 2 / 48));
/** A passing test needs one or two; what is quick once is quick, and what is slow is slow every time. */
const maxRounds = 20;
const maxSpentMs = 20_000;

/** Of all in this process, the least that a megabyte took: whoever keeps to the bar by that keeps to it. */
let megabyteMs = Number.POSITIVE_INFINITY;

/**
 * Fails unless `run` costs less than it does to replace every word of `megabytes` of plain text, which is work of the
 * same kind. Both are measured right after each other, in processor time of this thread, so that no machine is too slow
 * for it and no neighbour too loud. The bar is for another class of complexity, not for another constant: give it some
 * ten times of what `run` takes.
 */
export async function expectCheap(run: () => unknown, megabytes: number): Promise<void> {
  if (megabyteMs === Number.POSITIVE_INFINITY) megabyteMs = await measure(replaceWords);
  let runMs = await measure(run);
  let least = runMs / megabyteMs;
  for (let [round, spentMs] = [1, runMs]; least >= megabytes && round < maxRounds && spentMs < maxSpentMs; round++) {
    const yardstickMs = await measure(replaceWords);
    runMs = await measure(run);
    [megabyteMs, spentMs] = [Math.min(megabyteMs, yardstickMs), spentMs + runMs];
    least = Math.min(least, runMs / yardstickMs);
  }
  expect(least, 'in megabytes of plain text').toBeLessThan(megabytes);
}

async function measure(run: () => unknown): Promise<number> {
  const startedAt = process.threadCpuUsage();
  await run();
  const { user, system } = process.threadCpuUsage(startedAt);
  return Math.max((user + system) / 1000, 0.1);
}

function replaceWords(): string {
  return words.replace(/\w+/g, (word) => (word.length > 20 ? '' : word));
}
