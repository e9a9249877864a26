import type { CheckOutput, TestReport } from '../../project-tools/test-runner.ts';
import { readBuildErrors, readPrintedSummary } from './read-printed-tests.ts';
import { toTestReport } from './to-test-report.ts';

/**
 * Reads the output of a script whose test runner is unknown. Exit code 0 is a pass, with `passed: null` unless the
 * script prints a count; if it prints that tests failed, the result is unreadable. Any other exit code is a failure,
 * with the printed failures or else the last line.
 */
export function readScriptOutput(output: CheckOutput): TestReport {
  const { exitCode } = output;
  const counted = readPrintedSummary(output) ?? readBuildErrors(output);
  if (!counted) return readStatus(output);
  if (exitCode === 0 && (counted.failed > 0 || counted.broken !== undefined)) {
    const reason = `it ended with exit 0, but printed that ${counted.broken ?? `${counted.failed} failed`}`;
    return { ...toTestReport(counted, output), state: 'unreadable', failures: [], reason };
  }
  const report = toTestReport(counted, output);
  const isElsewhere = exitCode !== null && exitCode !== 0 && counted.failed === 0 && counted.broken === undefined;
  if (!isElsewhere) return report;
  // Tests passed, or there were none, and another step failed.
  return {
    ...report,
    state: 'broken',
    reason: `no test failed, but it ended with exit ${exitCode}: ${lastLine(output)}`,
  };
}

function readStatus(output: CheckOutput): TestReport {
  const { exitCode, isCut } = output;
  const report = { passed: null, failed: 0, skipped: null, failures: [] };
  if (exitCode === null) return { state: 'broken', ...report, reason: 'it was killed' };
  if (exitCode === 126 || exitCode === 127) return { state: 'broken', ...report, reason: lastLine(output) };
  if (exitCode !== 0) return { state: 'failed', ...report, reason: `exit ${exitCode}: ${lastLine(output)}` };
  if (isCut) return { state: 'unreadable', ...report, reason: 'it printed too much to be read whole' };
  return { state: 'passed', ...report };
}

const maxLine = 300;

function lastLine({ stdout, stderr }: CheckOutput): string {
  const text = stderr.trim() || stdout.trim();
  return text.slice(text.lastIndexOf('\n') + 1).slice(0, maxLine);
}
