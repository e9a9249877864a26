import type { CheckOutput, TestReport } from '../checks/test-runner.ts';
import { readBuild, readSummary } from './read-summary.ts';
import { judge } from './read-tests.ts';

/**
 * What a script says whose runner is not known. Its exit code is its own word: 0 is a pass if nothing it printed says
 * otherwise, with `passed: null` unless it says how many there were; anything else is a failure of which only the last
 * line can be told.
 */
export function readScript(output: CheckOutput): TestReport {
  const { exitCode, isCut } = output;
  const counted = readSummary(output) ?? readBuild(output);
  if (counted) return judge(counted, output);
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
