import type { CheckOutput, TestFailure } from '../../project-tools/test-runner.ts';
import { readJestFailures, readMochaFailures, readVitestFailures } from './printed-js-failures.ts';
import { readPrintedNodeFailures } from './read-printed-node-failures.ts';
import { readTap } from './read-tap.ts';
import { type CountedTests, findBuildErrors } from './to-test-report.ts';

interface Sums {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

const sum = (matches: Iterable<RegExpMatchArray>) =>
  [...matches].reduce((total, [, count]) => total + Number(count), 0);

interface Summary extends Sums {
  /** Reads the failures that are printed above the summary. */
  readonly read?: (text: string, directory: string) => TestFailure[];
}

/** Summary lines that test runners print for people. Each is matched only at the start of a line. */
const summaries: readonly ((text: string) => Summary | undefined)[] = [
  // node:test
  (text) => {
    const count = (word: string) => sum(text.matchAll(new RegExp(`^(?:ℹ|#) ${word} (\\d{1,9})$`, 'gm')));
    if (!/^(?:ℹ|#) tests \d{1,9}$/m.test(text)) return undefined;
    const sums = { passed: count('pass'), failed: count('fail') + count('cancelled'), skipped: count('skipped') };
    return { ...sums, read: readPrintedNodeFailures };
  },
  // jest, vitest
  (text) => {
    const lines = text.match(/^ *Tests:? {1,20}\d.{0,200}$/gm) ?? undefined;
    const count = (word: string) => sum((lines ?? []).flatMap((line) => [...line.matchAll(countBefore(word))]));
    const sums = lines && { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
    return sums && { ...sums, read: (...said) => [...readJestFailures(...said), ...readVitestFailures(...said)] };
  },
  // mocha
  (text) => {
    const count = (word: string) => sum(text.matchAll(new RegExp(`^ {2}(\\d{1,9}) ${word}\\b`, 'gm')));
    if (!/^ {2}\d{1,9} passing\b/m.test(text)) return undefined;
    const sums = { passed: count('passing'), failed: count('failing'), skipped: count('pending') };
    return { ...sums, read: readMochaFailures };
  },
  // automake
  (text) => {
    const count = (word: string) => sum(text.matchAll(new RegExp(`^# ${word}: {1,5}(\\d{1,9})$`, 'gm')));
    if (!/^# TOTAL: {1,5}\d{1,9}$/m.test(text)) return undefined;
    return { passed: count('PASS'), failed: count('FAIL') + count('ERROR'), skipped: count('SKIP') };
  },
];

const countBefore = (word: string) => new RegExp(`(\\d{1,9}) ${word}\\b`, 'g');

/** Counts the tests of a script if its output has a known summary. */
export function readPrintedSummary(output: CheckOutput): CountedTests | undefined {
  const text = `${output.stdout}\n${output.stderr}`;
  // Node's test runner prints TAP with nested tests, and is read by its summary instead.
  const isTap = /^TAP version \d/m.test(output.stdout) && !/^# suites \d/m.test(output.stdout);
  const tap = isTap ? readTap(output.stdout, output.directory) : undefined;
  if (tap) return tap;
  // A script may use several test runners.
  const all = summaries.flatMap((count) => count(text) ?? []);
  return all.length === 0 ? undefined : toCounted(all, text, output);
}

/**
 * Adds up the summaries. A file that could not be loaded counts as one failed test; to repeat it is to run all tests in
 * it.
 */
function toCounted(all: readonly Summary[], text: string, { directory, exitCode }: CheckOutput): CountedTests {
  const total = (key: keyof Sums) => all.reduce((count, sums) => count + sums[key], 0);
  const failures = exitCode === 0 ? [] : all.flatMap(({ read }) => read?.(text, directory) ?? []);
  const builds = failures.filter(({ isBuild }) => isBuild);
  const [first] = builds;
  const failed = Math.max(0, Math.max(total('failed'), failures.length) - builds.length);
  const broken = first && `${first.name}: ${first.message}`;
  return { passed: total('passed'), failed, skipped: total('skipped'), failures, broken };
}

/** Reads compiler errors, which explain why a script failed that prints nothing about tests. */
export function readBuildErrors(output: CheckOutput): CountedTests | undefined {
  const failures = output.exitCode === 0 ? [] : findBuildErrors(output);
  const [first] = failures;
  if (!first) return undefined;
  return { passed: 0, failed: 0, skipped: 0, failures, broken: `${first.name}: ${first.message}` };
}
