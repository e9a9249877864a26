import { readdirSync, readFileSync } from 'node:fs';
import type { Ground } from './escape.ts';
import type { Problem } from './verdict.ts';

const promptMs = 5000;
const restMs = 50;

/** Does the work, and asks a neighbour all the while whether anybody still answers. Opened before, as it would be. */
export async function whileAsking<Result>(neighbour: Ground, work: () => Promise<Result>) {
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

/** How many processes of this machine have these words in their command line. */
export function countProcesses(words: string): number {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && readCommand(name).includes(words)).length;
}

/** Waits for the last of them to go. */
export async function findSurvivors(words: string, withinMs = promptMs): Promise<Problem> {
  const endAt = performance.now() + withinMs;
  while (countProcesses(words) > 0) {
    if (performance.now() > endAt) return `${countProcesses(words)} processes are still there`;
    await pause(restMs);
  }
  return undefined;
}

/** The most there were of a number that is read all the while. */
export async function watchMost<Result>(read: () => number, work: () => Promise<Result>) {
  let most = read();
  const timer = setInterval(() => {
    most = Math.max(most, read());
  }, restMs);
  const result = await work().finally(() => clearInterval(timer));
  return { result, most: Math.max(most, read()) };
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
