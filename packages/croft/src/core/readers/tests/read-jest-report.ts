import { z } from 'zod';
import type { CheckOutput, TestFailure, TestReport } from '../../project-tools/test-runner.ts';
import { readJson, toRelative } from '../reader-helpers.ts';
import { emptyTestReport, lineIn, missingTestReport, toTestReport } from './to-test-report.ts';

/** The JSON report of jest, which vitest writes too. */
const Report = z.object({
  numPassedTests: z.int().min(0),
  numFailedTests: z.int().min(0),
  numPendingTests: z.int().min(0).default(0),
  numTodoTests: z.int().min(0).default(0),
  success: z.boolean(),
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string().nullish(),
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
type FileResult = z.output<typeof Report>['testResults'][number];

const isEmpty = /^No tests found, exiting with code 1$/m;

export function readJestReport(output: CheckOutput): TestReport {
  const report = readJson(Report, output.report);
  if (!report) return isEmpty.test(output.stderr || output.stdout) ? emptyTestReport : missingTestReport(output);
  const ranFiles = report.testResults.map(({ name }) => toRelative(name, output.directory));
  return { ...read(report, output), ranFiles };
}

function read(report: z.output<typeof Report>, output: CheckOutput): TestReport {
  const failures = report.testResults.flatMap((file) => toFailures(file, output.directory));
  const builds = failures.filter(({ isBuild }) => isBuild);
  const failed = Math.max(report.numFailedTests, failures.length - builds.length);
  const counted = {
    passed: report.numPassedTests,
    failed,
    skipped: report.numPendingTests + report.numTodoTests,
    failures,
  };
  const [first] = builds;
  if (first)
    return toTestReport(
      { ...counted, broken: `${builds.length} test file(s) could not be run: ${firstLine(first)}` },
      output,
    );
  const isSurprise = !report.success && failed === 0 && report.numPassedTests > 0;
  return toTestReport({ ...counted, ...(isSurprise && { broken: 'no test failed, but the run did' }) }, output);
}

function firstLine({ file, message }: TestFailure): string {
  const line = message.split('\n').find((row) => row.trim() !== '' && !row.includes('●'));
  return `${file}: ${line?.trim() ?? ''}`;
}

const isFailed = ({ status }: { status: string }) => status === 'failed';

function toFailures({ name, status, message, assertionResults }: FileResult, directory: string): TestFailure[] {
  const file = toRelative(name, directory);
  const failed = assertionResults.filter(isFailed).map(({ fullName, failureMessages, location }) => {
    const [said = 'failed'] = failureMessages ?? [];
    const line = lineIn(said, name) ?? location?.line;
    // Vitest before version 2 begins the name with a blank.
    return { name: fullName.trim(), file, line, ...splitMessage(said) };
  });
  if (failed.length > 0 || status !== 'failed') return failed;
  const said = message || 'the test file could not be run';
  return [{ name: file, file, line: lineIn(said, name), message: said, isBuild: true }];
}

/** Splits a message without its stack into a summary and a comparison. */
function splitMessage(said: string): Pick<TestFailure, 'message' | 'diff'> {
  const text = said.split(/\n\s+at /)[0] ?? said;
  const end = text.indexOf('\n\n');
  return end < 0 ? { message: text } : { message: text.slice(0, end), diff: text.slice(end).trim() };
}
