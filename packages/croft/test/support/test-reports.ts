import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CheckOutput, TestRunner } from '../../src/core/project-tools/test-runner.ts';
import * as runners from '../../src/test-runners/index.ts';

const directory = join(import.meta.dirname, '../fixtures/test-reports');

export const everyRunner: readonly TestRunner[] = Object.values(runners);

export function runnerOf(name: string): TestRunner {
  const runner = everyRunner.find((one) => one.name === name);
  if (!runner) throw new Error(`no runner ${name}`);
  return runner;
}

/** Returns the recorded output of a runner: `passing`, `failing`, `broken` or `empty`. */
export function outputOf(runner: string, kind: string): CheckOutput {
  return JSON.parse(readFileSync(join(directory, runner, `${kind}.json`), 'utf8')).output;
}

/** Returns all recordings of a kind, by the runner's name. */
export function casesOf(kind: string): [string, CheckOutput][] {
  const names = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return names
    .filter(({ name }) => readdirSync(join(directory, name)).includes(`${kind}.json`))
    .map(({ name }) => [name, outputOf(name, kind)]);
}
