import { posix } from 'node:path';
import type { z } from 'zod';
import { parseJson } from '../../lib/text/parse-json.ts';
import type { LintReport } from '../project-tools/linter.ts';
import type { CheckOutput, TestReport } from '../project-tools/test-runner.ts';

/**
 * Shared by the readers of test runners and linters. The output comes from a program in a sandbox: nothing in it can be
 * trusted.
 */

const nothingRan = { passed: null, failed: 0, skipped: null, failures: [] } as const;

/** Report of a test run that ended without an answer. */
export function brokenTests(output: CheckOutput): TestReport {
  return { state: 'broken', ...nothingRan, reason: reasonOf(output) };
}

export function unreadableTests(reason: string): TestReport {
  return { state: 'unreadable', ...nothingRan, reason };
}

export function brokenLint(output: CheckOutput): LintReport {
  return { state: 'broken', findings: [], reason: reasonOf(output) };
}

export function unreadableLint(reason: string): LintReport {
  return { state: 'unreadable', findings: [], reason };
}

const maxReason = 300;

const isError = /^\s*(?:level=)?(?:fatal )?error\b/i;
/** Maven prints everything to one stream, with a level before each line. */
const isMavenError = /^\[ERROR\]\s+\S/;
const isTalk = /^\s*(?:\[(?:INFO|WARNING|DEBUG)\].*)?$/;

/**
 * Returns the first line that looks like an error or, without one, the first line of stderr or stdout that is not mere
 * progress.
 */
function reasonOf({ stdout, stderr, exitCode }: CheckOutput): string {
  const lines = (stderr.trim() || stdout.trim()).split('\n');
  const error = lines.find((row) => isError.test(row)) ?? stdout.split('\n').find((row) => isMavenError.test(row));
  const line = (error ?? lines.find((row) => !isTalk.test(row)) ?? '').replace(/^\[ERROR\]/, '');
  const ending = exitCode === null ? 'it was killed' : `exit ${exitCode}`;
  return line === '' ? ending : `${ending}: ${line.trim().slice(0, maxReason)}`;
}

/** Parses JSON against a schema; `undefined` if it does not match. */
export function readJson<Schema extends z.ZodType>(
  schema: Schema,
  text: string | undefined,
): z.output<Schema> | undefined {
  const value = parseJson(text ?? '');
  return value === undefined ? undefined : schema.safeParse(value).data;
}

/** Converts a path that a program printed to one from the project root. A path elsewhere stays as it is. */
export function toRelative(path: string, directory: string): string {
  const plain = path.replace(/^file:\/\//, '');
  const clean = posix.normalize(plain);
  if (clean.startsWith(`${directory}/`)) return clean.slice(directory.length + 1);
  return clean.replace(/^\.\//, '');
}
