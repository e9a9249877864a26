import { cutText } from '../../../lib/text/cut-text.ts';
import { stripControlSequences } from '../../../lib/text/strip-control-sequences.ts';
import type { CheckOutput, TestFailure, TestReport } from '../../project-tools/test-runner.ts';
import { findCompilerErrors } from '../compiler-errors.ts';
import { brokenTests, toRelative, unreadableTests } from '../reader-helpers.ts';

/** The counts and failures that a reader found, before they are judged. */
export interface CountedTests {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly failures: readonly TestFailure[];
  /** Why not all tests could run, if so. */
  readonly broken?: string | undefined;
}

const maxFailures = 1000;
const maxText = 4000;
const maxName = 1000;

/**
 * Judges a test run. Only here is a run called green: some tests ran, all passed, and the test runner confirmed it to
 * the end.
 */
export function toTestReport(counted: CountedTests, { isCut, exitCode }: CheckOutput): TestReport {
  const { passed, failed, skipped } = counted;
  const counts = { passed, failed, skipped, failures: counted.failures.slice(0, maxFailures).map(tidy) };
  const is = (state: TestReport['state'], reason?: string): TestReport => ({ state, ...counts, reason });
  if (counted.broken !== undefined) return is('broken', tidyText(counted.broken, maxName));
  if (failed > 0) return is('failed');
  if (isCut) return is('unreadable', 'it printed too much to be read whole');
  if (passed === 0 && skipped === 0) return is('empty');
  if (passed === 0) return is('empty', `none of the tests were run, and ${skipped} skipped`);
  if (exitCode !== 0) return is('broken', `no test failed, but it ended with ${endingOf(exitCode)}`);
  return is('passed');
}

function endingOf(exitCode: number | null): string {
  return exitCode === null ? 'a signal' : `exit ${exitCode}`;
}

function tidy({ name, message, diff, ...rest }: TestFailure): TestFailure {
  return {
    ...rest,
    name: tidyText(name, maxName),
    message: tidyText(message, maxText).trim() || 'failed',
    ...(diff !== undefined && { diff: tidyText(diff, maxText) }),
  };
}

function tidyText(text: string, max: number): string {
  return stripControlSequences(cutText(text, max));
}

/** Report of a test runner that found no tests. */
export const emptyTestReport: TestReport = { state: 'empty', passed: 0, failed: 0, skipped: 0, failures: [] };

/** Report of a run that left nothing to read: a broken build with its errors, or another failure. */
export function missingTestReport(output: CheckOutput): TestReport {
  if (output.exitCode === 0) return unreadableTests(output.isCut ? 'it printed too much' : 'it wrote no report');
  const failures = findBuildErrors(output);
  const [first] = failures;
  if (!first) return brokenTests(output);
  return toTestReport(
    { passed: 0, failed: 0, skipped: 0, failures, broken: buildFailureReason(first, output) },
    output,
  );
}

/** Finds compiler errors in the output. */
export function findBuildErrors({ stdout, stderr, directory }: CheckOutput): TestFailure[] {
  return findCompilerErrors(`${stderr}\n${stdout}`).map(({ file, line, message }) => {
    const path = toRelative(file, directory);
    return { name: `${path}:${line}`, file: path, line, message, isBuild: true };
  });
}

export function buildFailureReason({ name, message }: TestFailure, { exitCode }: CheckOutput): string {
  return `${endingOf(exitCode)}: ${name}: ${message}`;
}

/** Escapes a text for a pattern that matches it literally. Also for Go, Ruby, PHP and Rust. */
export function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}

/** Builds a pattern that matches exactly these names. */
export function exactNamesPattern(names: readonly string[]): string {
  return `^(${unique(names).map(escapePattern).join('|')})$`;
}

export function filesOfFailures(again: readonly TestFailure[]): string[] {
  return unique(again.flatMap(({ file }) => file ?? []));
}

/**
 * Returns the names to select failed tests by; `undefined` if one of the failures is a build error, because then all
 * tests that it blocked must run.
 */
export function selectableNames(again: readonly TestFailure[] | undefined): string[] | undefined {
  if (again?.some(({ isBuild }) => isBuild)) return undefined;
  return again && unique(again.map(({ id, name }) => id ?? name));
}

export function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}

/** Returns the first line number that a stack gives for a file. */
export function lineIn(text: string, file: string): number | undefined {
  const at = text.indexOf(`${file}:`);
  const line = at < 0 ? undefined : text.slice(at + file.length + 1, at + file.length + 11).match(/^\d{1,9}/)?.[0];
  return line === undefined ? undefined : Number(line);
}
