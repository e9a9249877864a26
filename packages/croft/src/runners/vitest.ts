import { z } from 'zod';
import { withFiles } from '../core/linter.ts';
import { broken, readJson, toRelative, unreadable } from '../core/read-output.ts';
import { defineTestRunner, type TestFailure } from '../core/test-runner.ts';

const Report = z.object({
  numPassedTests: z.int(),
  numFailedTests: z.int(),
  numPendingTests: z.int().default(0),
  success: z.boolean(),
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string().default(''),
      assertionResults: z.array(
        z.object({
          fullName: z.string(),
          status: z.string(),
          failureMessages: z.array(z.string()).nullish(),
          location: z.object({ line: z.int() }).nullish(),
        }),
      ),
    }),
  ),
});

export const vitest = defineTestRunner({
  name: 'vitest',
  toArgv: (argv, { files, name, again, reportFile }) => [
    ...withFiles(argv, again ? filesOf(again) : files),
    ...['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`, '--includeTaskLocation'],
    ...(again ? ['-t', toPattern(again)] : name === undefined ? [] : ['-t', escapePattern(name)]),
  ],
  read(output) {
    const report = readJson(Report, output.report);
    if (!report) return output.exitCode === 0 ? unreadable('it wrote no report') : broken(output);
    const failures = report.testResults.flatMap((file) => toFailures(file, output.directory));
    const { numPassedTests: passed, numFailedTests, numPendingTests: skipped } = report;
    const brokenFiles = report.testResults.filter(
      ({ status, assertionResults }) => status === 'failed' && !assertionResults.some(isFailed),
    );
    const failed = Math.max(numFailedTests, failures.length - brokenFiles.length);
    const counts = { passed, failed, skipped, failures };
    if (brokenFiles.length > 0)
      return { state: 'broken', ...counts, reason: `${brokenFiles.length} test file(s) could not be run` };
    if (failed > 0) return { state: 'failed', ...counts };
    if (passed + (skipped ?? 0) === 0) return { state: 'empty', ...counts };
    return report.success
      ? { state: 'passed', ...counts }
      : { state: 'broken', ...counts, reason: 'vitest says that it failed' };
  },
});

type FileResult = z.output<typeof Report>['testResults'][number];

const isFailed = ({ status }: { status: string }) => status === 'failed';

function toFailures({ name, status, message, assertionResults }: FileResult, directory: string): TestFailure[] {
  const file = toRelative(name, directory);
  const failed = assertionResults.filter(isFailed).map(({ fullName, failureMessages, location }) => ({
    name: fullName,
    file,
    line: lineIn(failureMessages?.[0] ?? '', name) ?? location?.line,
    message: (failureMessages?.[0] ?? 'failed').split('\n    at ')[0] ?? 'failed',
  }));
  if (failed.length > 0 || status !== 'failed') return failed;
  return [{ name: file, file, message: message || 'the test file could not be run' }];
}

/** Where in its own file the test stopped. */
function lineIn(stack: string, file: string): number | undefined {
  const at = stack.split('\n').find((row) => row.includes(`${file}:`));
  const line = at?.slice(at.indexOf(`${file}:`) + file.length + 1).match(/^\d+/)?.[0];
  return line === undefined ? undefined : Number(line);
}

function filesOf(again: readonly TestFailure[]): string[] {
  return [...new Set(again.flatMap(({ file }) => file ?? []))];
}

function toPattern(again: readonly TestFailure[]): string {
  const names = [...new Set(again.filter(({ name, file }) => name !== file).map(({ name }) => name))];
  return names.length === 0 ? '' : `^(${names.map(escapePattern).join('|')})$`;
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
