import { AppError } from '@croft/protocol';
import type { TestFailure, TestReport, TestRequest } from '../../project-tools/test-runner.ts';
import { toProjectPath, toWorkspacePath } from '../../projects/pick-projects.ts';
import type { Profile } from '../../projects/profile.ts';
import type { ToolContext } from '../../tools/tool.ts';
import type { CheckResults, TestRun } from '../check-results.ts';
import { nameProject, runAndRecordVerdicts } from '../run-and-record-verdicts.ts';
import { compareTestRuns, failuresOutsideRequest, type TestChanges } from './compare-test-runs.ts';
import { withoutReportLines } from './render-test-command.ts';
import { isPartialRequest, runTestRunner } from './run-test-runner.ts';

interface TestCall {
  readonly profile: Profile;
  readonly request: Omit<TestRequest, 'reportFile'>;
  readonly timeoutMs: number;
  /** The calling tool, as callers name it. */
  readonly tool: string;
  /** Failures of the last run that this request does not cover. They stay until a run proves otherwise. */
  readonly others?: readonly TestFailure[] | undefined;
}

export interface CompletedTestRun {
  readonly run: TestRun;
  readonly command: readonly string[];
  readonly output: string;
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  readonly durationMs: number;
  /** Compared to the last run of the same tests. Left out if one of the two does not name its failures. */
  readonly changes?: TestChanges | undefined;
  /** How the run differed from the request. */
  readonly note?: string | undefined;
}

/** Runs tests of one project and stores the result. */
async function runTests(call: TestCall, context: ToolContext): Promise<CompletedTestRun> {
  const { profile, request } = call;
  const { results } = context.workspace.checks;
  const last = await findLast(results, profile);
  const { command, check, report } = await runTestRunner(call, context);
  const { output, timedOut, durationMs } = check;
  const proven = mustBeComplete(report, { ...request, timedOut, timeoutMs: call.timeoutMs });
  const run = toRun(call, proven);
  const others = call.others ?? failuresOutsideRequest(last, request);
  await results.saveRun(
    toStoredRun(run, toRun(call, { ...proven, failures: failuresToKeep(proven, request.again, others) })),
  );
  const said = [output.stdout, output.stderr].map(withoutReportLines).filter((text) => text !== '');
  const changes = last && compareTestRuns(last, toRun(call, proven), { request, profile });
  const note = request.again && whyAllAgain(context, call);
  const rest = { exitCode: output.exitCode, timedOut, durationMs, changes, note };
  return { run, command, output: said.join('\n--- stderr ---\n'), ...rest };
}

/** Loads the project's last run, with file paths from the project root, as in a request. */
async function findLast(results: CheckResults, profile: Profile): Promise<TestRun | undefined> {
  const { language, directory, test } = profile;
  const { runs } = await results.load();
  const last = runs.find((run) => run.language === language && run.directory === directory && run.tool === test?.tool);
  return last && { ...last, failures: last.failures.map((failure) => failureInProject(failure, profile)) };
}

function failureInProject(failure: TestFailure, profile: Profile): TestFailure {
  return failure.file === undefined ? failure : { ...failure, file: toProjectPath(failure.file, profile) };
}

/** Explains why more than the failed tests ran again; `undefined` if only those ran. */
function whyAllAgain({ workspace }: ToolContext, { profile, request: { again = [] } }: TestCall): string | undefined {
  const { tool = '', argv = ['' as const] } = profile.test ?? {};
  const why = workspace.checks.testRunner(tool).whyAllTestsRerun?.(again, argv);
  if (why !== undefined) return `all tests were run again: ${why}`;
  const build = again.find(({ isBuild }) => isBuild);
  return build && `more than the failed tests were run again: ${build.name} had kept other tests from running`;
}

/** Among several projects, one that cannot run does not keep the others from answering. */
export async function runTestsOfProjects(
  calls: readonly TestCall[],
  context: ToolContext,
): Promise<readonly CompletedTestRun[]> {
  const work = async () => {
    const ran: CompletedTestRun[] = [];
    for (const call of calls) {
      const answer = runTests(call, context);
      ran.push(await (calls.length > 1 ? answer.catch((thrown) => toBroken(thrown, call)) : answer));
    }
    return ran;
  };
  const toVerdicts = (ran: readonly CompletedTestRun[]) =>
    ran.flatMap(({ run }, index) => toVerdict(run, calls[index]));
  return runAndRecordVerdicts(context, work, toVerdicts);
}

/** A partial run that passes proves nothing about the rest; one that fails is a verdict. */
function toVerdict(run: TestRun, call: TestCall | undefined) {
  const { state: verdict } = run;
  const isWhole = call !== undefined && !isPartialRequest(call.request);
  const isKnown = verdict === 'failed' || verdict === 'broken' || (verdict === 'passed' && isWhole);
  return isKnown ? [{ tool: 'run_tests', project: nameProject(run), verdict }] : [];
}

const cannotRunCodes: readonly string[] = ['E_TOOL_MISSING', 'E_INVALID_INPUT', 'E_NO_PROJECT'];

function toBroken(thrown: unknown, call: TestCall): CompletedTestRun {
  if (!AppError.is(thrown) || !cannotRunCodes.includes(thrown.code)) throw thrown;
  const report = {
    state: 'broken',
    passed: null,
    failed: 0,
    skipped: null,
    failures: [],
    reason: thrown.message,
  } as const;
  const nothing = { output: '', exitCode: null, timedOut: false, durationMs: 0 };
  return { run: toRun(call, report), command: call.profile.test?.argv ?? [], ...nothing };
}

/** A run that was cut short, or did not run the requested tests, is not green, whatever its report says. */
function mustBeComplete(
  report: TestReport,
  { files, again, timedOut, timeoutMs }: TestCall['request'] & { timedOut: boolean; timeoutMs: number },
): TestReport {
  if (timedOut) return { ...report, state: 'broken', reason: `time ran out after ${timeoutMs / 1000}s` };
  const asked = new Set(again?.filter(({ isBuild }) => !isBuild).map(({ id, name, file }) => `${file} ${id ?? name}`));
  const { state, passed, ranFiles } = report;
  const left = state === 'passed' && ranFiles ? files.find((file) => !isAmong(file, ranFiles)) : undefined;
  if (left !== undefined)
    return { ...report, state: 'broken', reason: `${left} was not run: the test runner does not list it` };
  if (state !== 'passed' || passed === null || passed >= asked.size) return report;
  const reason = `${asked.size} tests had failed and only ${passed} ran again; the others are renamed, gone or skipped`;
  return { ...report, state: 'broken', reason };
}

/** Whether a requested file or directory is among those that ran. */
function isAmong(asked: string, ran: readonly string[]): boolean {
  return ran.some((file) => file === asked || file.startsWith(`${asked}/`)) || /[*?{]/.test(asked);
}

/** A run without an answer says nothing about the tests that it was to repeat: those stay failed. */
function failuresToKeep(
  { state }: TestReport,
  again: readonly TestFailure[] = [],
  others: readonly TestFailure[],
): readonly TestFailure[] {
  const isAnswer = state === 'passed' || state === 'failed';
  return isAnswer ? others : [...again.filter(({ isBuild }) => !isBuild), ...others];
}

function toStoredRun(run: TestRun, { failures: rest }: TestRun): TestRun {
  if (rest.length === 0) return run;
  const isNew = ({ name, file }: TestFailure) =>
    !run.failures.some((failure) => failure.name === name && failure.file === file);
  const added = rest.filter(isNew);
  const state = run.state === 'passed' ? 'failed' : run.state;
  return { ...run, state, failed: run.failed + added.length, failures: [...run.failures, ...added] };
}

function toRun({ profile, request }: Pick<TestCall, 'profile' | 'request'>, report: TestReport): TestRun {
  const { language, directory } = profile;
  const { state, passed, failed, skipped, reason } = report;
  return {
    ...{ language, directory, tool: profile.test?.tool ?? '', state, passed, failed, skipped },
    ...(reason !== undefined && { reason }),
    ...(isPartialRequest(request) && { isPart: true as const }),
    failures: report.failures.map((failure) => failureInWorkspace(failure, profile)),
    endedAt: Date.now(),
  };
}

function failureInWorkspace(failure: TestFailure, profile: Profile): TestFailure {
  return failure.file === undefined ? failure : { ...failure, file: toWorkspacePath(failure.file, profile) };
}

/** Summarizes a run in one line; only a proven pass reads as green. */
export function summarizeTestRun({ state, passed, failed, skipped, reason, tool }: TestRun): string {
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
    const location = file === undefined ? [] : [`   ${file}${line === undefined ? '' : `:${line}`}`];
    const compared = diff === undefined ? [] : ['--- diff ---', ...diff.split('\n').slice(0, maxDiffLines)];
    const said = [...message.split('\n'), ...compared].map((text) => `   ${text}`);
    return [`${index + 1}. ${name}`, ...location, ...said, ''].join('\n');
  });
  const more = failures.length - shown.length;
  return [...shown, ...(more > 0 ? [`(${more} more entries truncated; pass a larger limit to see them)`] : [])].join(
    '\n',
  );
}
