import type { CheckOutput } from '../checks/test-runner.ts';
import { readTap } from './read-tap.ts';
import { type Counted, findBuildErrors } from './read-tests.ts';

interface Sums {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

const sum = (matches: Iterable<RegExpMatchArray>) =>
  [...matches].reduce((total, [, count]) => total + Number(count), 0);

/** The last lines of runners that people read. Each is looked for at the beginning of a line and nowhere else. */
const summaries: readonly ((text: string) => Sums | undefined)[] = [
  // node:test
  (text) => {
    const count = (word: string) => sum(text.matchAll(new RegExp(`^(?:ℹ|#) ${word} (\\d{1,9})$`, 'gm')));
    if (!/^(?:ℹ|#) tests \d{1,9}$/m.test(text)) return undefined;
    return { passed: count('pass'), failed: count('fail') + count('cancelled'), skipped: count('skipped') };
  },
  // jest, vitest
  (text) => {
    const lines = text.match(/^ *Tests:? {1,20}\d.{0,200}$/gm);
    const count = (word: string) => sum((lines ?? []).flatMap((line) => [...line.matchAll(countBefore(word))]));
    return lines ? { passed: count('passed'), failed: count('failed'), skipped: count('skipped') } : undefined;
  },
  // mocha
  (text) => {
    const count = (word: string) => sum(text.matchAll(new RegExp(`^ {2}(\\d{1,9}) ${word}\\b`, 'gm')));
    if (!/^ {2}\d{1,9} passing\b/m.test(text)) return undefined;
    return { passed: count('passing'), failed: count('failing'), skipped: count('pending') };
  },
  // automake
  (text) => {
    const count = (word: string) => sum(text.matchAll(new RegExp(`^# ${word}: {1,5}(\\d{1,9})$`, 'gm')));
    if (!/^# TOTAL: {1,5}\d{1,9}$/m.test(text)) return undefined;
    return { passed: count('PASS'), failed: count('FAIL') + count('ERROR'), skipped: count('SKIP') };
  },
];

const countBefore = (word: string) => new RegExp(`(\\d{1,9}) ${word}\\b`, 'g');

/** How many tests there were, where a script's output says it in a way that is known. */
export function readSummary(output: CheckOutput): Counted | undefined {
  const text = `${output.stdout}\n${output.stderr}`;
  const tap = /^TAP version \d/m.test(output.stdout) ? readTap(output.stdout, output.directory) : undefined;
  if (tap) return tap;
  for (const read of summaries) {
    const sums = read(text);
    if (sums) return { ...sums, failures: [] };
  }
  return undefined;
}

/** The errors of a compiler, if there are any, are why a script failed that says nothing of tests. */
export function readBuild(output: CheckOutput): Counted | undefined {
  const failures = output.exitCode === 0 ? [] : findBuildErrors(output);
  const [first] = failures;
  if (!first) return undefined;
  return { passed: 0, failed: 0, skipped: 0, failures, broken: `${first.name}: ${first.message}` };
}
