import { findCompilerErrors } from '../../lib/compiler-errors.ts';
import { cutText } from '../../lib/text/cut-text.ts';
import { stripControl } from '../../lib/text/strip-control.ts';
import type { CheckOutput, TestFailure, TestReport } from '../checks/test-runner.ts';
import { broken, toRelative, unreadable } from './read-output.ts';

/** What a runner was understood to say, before it is judged. */
export interface Counted {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly failures: readonly TestFailure[];
  /** Why not all could be run, if so. */
  readonly broken?: string | undefined;
}

const maxFailures = 1000;
const maxText = 4000;
const maxName = 1000;

/** The one place where a run is called green: some tests ran, all passed, and the runner said so to the end. */
export function judge(counted: Counted, { isCut, exitCode }: CheckOutput): TestReport {
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
  return stripControl(cutText(text, max));
}

/** It looked for tests and says that there are none. */
export const empty: TestReport = { state: 'empty', passed: 0, failed: 0, skipped: 0, failures: [] };

/** There is nothing to read: the build broke, with its errors where they are said, or something else did. */
export function withoutReport(output: CheckOutput): TestReport {
  if (output.exitCode === 0) return unreadable(output.isCut ? 'it printed too much' : 'it wrote no report');
  const failures = findBuildErrors(output);
  const [first] = failures;
  if (!first) return broken(output);
  return judge({ passed: 0, failed: 0, skipped: 0, failures, broken: reasonOf(first, output) }, output);
}

/** The errors of compilers in what it printed. */
export function findBuildErrors({ stdout, stderr, directory }: CheckOutput): TestFailure[] {
  return findCompilerErrors(`${stderr}\n${stdout}`).map(({ file, line, message }) => {
    const path = toRelative(file, directory);
    return { name: `${path}:${line}`, file: path, line, message, isBuild: true };
  });
}

export function reasonOf({ name, message }: TestFailure, { exitCode }: CheckOutput): string {
  return `${endingOf(exitCode)}: ${name}: ${message}`;
}

/** For a pattern that is to match only the text itself. Also for Go, Ruby, PHP and Rust. */
export function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}

/** One pattern for exactly these. */
export function anyOf(names: readonly string[]): string {
  return `^(${unique(names).map(escapePattern).join('|')})$`;
}

export function filesOf(again: readonly TestFailure[]): string[] {
  return unique(again.flatMap(({ file }) => file ?? []));
}

/** What to pick tests by; nothing if one of them is no test, because then all have to be run that it kept from it. */
export function namesOf(again: readonly TestFailure[] | undefined): string[] | undefined {
  if (again?.some(({ isBuild }) => isBuild)) return undefined;
  return again && unique(again.map(({ id, name }) => id ?? name));
}

export function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}

/** The line that a stack or a traceback says of a file, first of all. */
export function lineIn(text: string, file: string): number | undefined {
  const at = text.indexOf(`${file}:`);
  const line = at < 0 ? undefined : text.slice(at + file.length + 1, at + file.length + 11).match(/^\d{1,9}/)?.[0];
  return line === undefined ? undefined : Number(line);
}
