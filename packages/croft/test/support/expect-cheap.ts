import { expect } from 'vitest';

const words = 'The quick brown fox: jumps over = the lazy dog.\n'.repeat(Math.ceil(1024 ** 2 / 48));
/** A passing test needs one or two rounds: fast code is fast at least once, and slow code is slow every time. */
const maxRounds = 20;
const maxSpentMs = 20_000;

/** The lowest time per megabyte measured in this process. */
let megabyteMs = Number.POSITIVE_INFINITY;

/**
 * Fails unless `run` costs less than replacing every word of `megabytes` of plain text, which is similar work. Both are
 * measured right after each other in processor time of this thread, so that slow machines and busy neighbours do not
 * matter. The limit is meant to find another class of complexity, not another constant: allow about ten times what
 * `run` takes.
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
