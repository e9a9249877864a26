import { posix } from 'node:path';
import type { z } from 'zod';
import type { LintReport } from '../checks/linter.ts';
import type { CheckOutput, TestReport } from '../checks/test-runner.ts';

/** Helpers of runners and linters, which read what a program in a sandbox says: nothing of it can be relied on. */

const nothingRan = { passed: null, failed: 0, skipped: null, failures: [] } as const;

/** It did not get as far as an answer. */
export function broken(output: CheckOutput): TestReport {
  return { state: 'broken', ...nothingRan, reason: reasonOf(output) };
}

export function unreadable(reason: string): TestReport {
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

/** The first line that says it is an error, or else anything, of its errors or else of what it said. */
function reasonOf({ stdout, stderr, exitCode }: CheckOutput): string {
  const lines = (stderr.trim() || stdout.trim()).split('\n');
  const line = lines.find((row) => isError.test(row)) ?? lines.find((row) => row.trim() !== '') ?? '';
  const ending = exitCode === null ? 'it was killed' : `exit ${exitCode}`;
  return line === '' ? ending : `${ending}: ${line.trim().slice(0, maxReason)}`;
}

/** Checked against a schema; nothing if it is not that. */
export function readJson<Schema extends z.ZodType>(
  schema: Schema,
  text: string | undefined,
): z.output<Schema> | undefined {
  try {
    const parsed = schema.safeParse(JSON.parse(text ?? ''));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

/** A path of the program's as one of the project's; one elsewhere stays as it is. */
export function toRelative(path: string, directory: string): string {
  const plain = path.replace(/^file:\/\//, '');
  const clean = posix.normalize(plain);
  if (clean.startsWith(`${directory}/`)) return clean.slice(directory.length + 1);
  return clean.replace(/^\.\//, '');
}
