import { AppError } from '@croft/protocol';
import type { TestRun } from './check-results.ts';
import { toWorkspacePath } from './pick-projects.ts';
import type { Profile } from './profile.ts';
import { runCheck } from './run-check.ts';
import type { TestFailure, TestReport, TestRequest } from './test-runner.ts';
import type { ToolContext } from './tool.ts';

export interface TestCall {
  readonly profile: Profile;
  readonly request: Omit<TestRequest, 'reportFile'>;
  readonly timeoutMs: number;
}

export interface RanTests {
  readonly run: TestRun;
  readonly command: readonly string[];
  readonly output: string;
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  readonly durationMs: number;
}

/** Runs tests of one project and keeps what came of it. */
export async function runTests(call: TestCall, { session, workspace, signal }: ToolContext): Promise<RanTests> {
  const { profile, timeoutMs } = call;
  if (!profile.test) throw new AppError('E_NO_PROJECT', `no test command detected (${profile.language})`);
  const runner = workspace.checks.runner(profile.test.tool);
  const reportFile = `/tmp/croft-report-${crypto.randomUUID()}`;
  const argv = runner.toArgv(profile.test.argv, { ...call.request, reportFile });
  const { environment } = runner;
  const { output, timedOut, durationMs } = await session.sandboxes.use(workspace.name, (sandbox) =>
    runCheck(sandbox, { profile, argv, timeoutMs, signal, environment, reportFile }),
  );
  const report = mustProve(runner.read(output), { timedOut, isCut: output.isCut, exitCode: output.exitCode });
  const run = toRun(profile, report);
  await workspace.checks.results.saveRun(run);
  const said = [output.stdout, output.stderr].filter((text) => text !== '').join('\n--- stderr ---\n');
  return { run, command: argv, output: said, exitCode: output.exitCode, timedOut, durationMs };
}

/** Whatever a runner is understood to say, a run that was cut short or ended badly is not green. */
function mustProve(
  report: TestReport,
  { timedOut, isCut, exitCode }: { timedOut: boolean; isCut: boolean; exitCode: number | null },
): TestReport {
  if (timedOut) return { ...report, state: 'broken', reason: 'time ran out' };
  if (report.state !== 'passed') return report;
  if (isCut) return { ...report, state: 'unreadable', reason: 'it printed too much to be read whole' };
  if (exitCode !== 0)
    return { ...report, state: 'broken', reason: `no test failed, but it ended with exit ${exitCode}` };
  return report;
}

function toRun(profile: Profile, report: TestReport): TestRun {
  const { language, directory } = profile;
  const { state, passed, failed, skipped, reason } = report;
  return {
    ...{ language, directory, tool: profile.test?.tool ?? '', state, passed, failed, skipped },
    ...(reason !== undefined && { reason }),
    failures: report.failures.map((failure) => inWorkspace(failure, profile)),
    endedAt: Date.now(),
  };
}

function inWorkspace(failure: TestFailure, profile: Profile): TestFailure {
  return failure.file === undefined ? failure : { ...failure, file: toWorkspacePath(failure.file, profile) };
}

/** In one line, green only for what was seen to be. */
export function summarizeRun({ state, passed, failed, skipped, reason, tool }: TestRun): string {
  const counts = [
    ...(passed === null ? [] : [`${passed} passed`]),
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(skipped ? [`${skipped} skipped`] : []),
  ].join(', ');
  const why = reason === undefined ? '' : `: ${reason}`;
  const words = {
    passed: 'passed',
    failed: 'failed',
    empty: 'no tests were found',
    broken: `the tests could not all be run${why}`,
    unreadable: `the answer of ${tool} was not understood${why}`,
  };
  return counts === '' ? words[state] : `${words[state]} (${counts})`;
}

const maxDiffLines = 20;

export function renderFailures(failures: TestRun['failures'], limit: number): string {
  const shown = failures.slice(0, limit).map(({ name, file, line, message, diff }, index) => {
    const place = file === undefined ? [] : [`   ${file}${line === undefined ? '' : `:${line}`}`];
    const compared = diff === undefined ? [] : ['--- diff ---', ...diff.split('\n').slice(0, maxDiffLines)];
    const said = [...message.split('\n'), ...compared].map((text) => `   ${text}`);
    return [`${index + 1}. ${name}`, ...place, ...said, ''].join('\n');
  });
  const more = failures.length - shown.length;
  return [...shown, ...(more > 0 ? [`(${more} more entries truncated; pass a larger limit to see them)`] : [])].join(
    '\n',
  );
}
