import { readdirSync, readFileSync } from 'node:fs';
import type { EscapeFixture } from './escape.ts';
import type { Problem } from './to-verdict.ts';

const promptMs = 5000;
const restMs = 50;

/**
 * Does the work while it calls another sandbox again and again, and reports if that sandbox was slow or failed. The
 * other sandbox is opened before.
 */
export async function whileProbingNeighbour<Result>(neighbour: EscapeFixture, work: () => Promise<Result>) {
  let [isOver, slowestMs] = [false, 0];
  const failures: string[] = [];
  const asking = (async () => {
    while (!isOver) {
      const startedAt = performance.now();
      const answers = await Promise.all([neighbour.call('bash', { command: 'echo here' }), neighbour.call('list', {})]);
      slowestMs = Math.max(slowestMs, performance.now() - startedAt);
      failures.push(...answers.filter(({ isError }) => isError).map(({ text }) => text));
      await pause(restMs);
    }
  })();
  const result = await work().finally(() => {
    isOver = true;
  });
  await asking;
  const problems: Problem[] = [
    slowestMs > promptMs && `another sandbox answered only after ${Math.round(slowestMs)} ms`,
    failures.length > 0 && `another sandbox failed: ${failures[0]}`,
  ];
  return { result, problems };
}

/** Counts the processes of this machine whose command line contains these words. */
export function countProcesses(words: string): number {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && readCommand(name).includes(words)).length;
}

/** Waits for all of them to end, and reports how many did not. */
export async function findSurvivors(words: string, withinMs = promptMs): Promise<Problem> {
  const endAt = performance.now() + withinMs;
  while (countProcesses(words) > 0) {
    if (performance.now() > endAt) return `${countProcesses(words)} processes are still there`;
    await pause(restMs);
  }
  return undefined;
}

/** Returns the highest value of a number that is read repeatedly while the work runs. */
export async function trackPeak<Result>(read: () => number, work: () => Promise<Result>) {
  let most = read();
  const timer = setInterval(() => {
    most = Math.max(most, read());
  }, restMs);
  const result = await work().finally(() => clearInterval(timer));
  return { result, most: Math.max(most, read()) };
}

export async function waitFor(isSo: () => boolean): Promise<void> {
  while (!isSo()) await pause(restMs);
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function readCommand(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}
