import { AppError } from '@croft/protocol';
import { toWorkspacePath } from '../projects/pick-projects.ts';
import type { Profile } from '../projects/profile.ts';
import type { ToolContext } from '../tool.ts';
import type { TestRun } from './check-results.ts';
import { runAndRead } from './run-runner.ts';
import { nameProject, tellHistory } from './tell-history.ts';
import type { TestFailure, TestReport, TestRequest } from './test-runner.ts';

export interface TestCall {
  readonly profile: Profile;
  readonly request: Omit<TestRequest, 'reportFile'>;
  readonly timeoutMs: number;
  /** Who asks, as callers name it. */
  readonly tool: string;
  /** Failures of the last run that this one is not about. They stay until a run proves otherwise. */
  readonly others?: readonly TestFailure[] | undefined;
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
async function runTests(call: TestCall, context: ToolContext): Promise<RanTests> {
  const { profile, request, others = [] } = call;
  const { results } = context.workspace.checks;
  const { command, check, report } = await runAndRead(call, context);
  const { output, timedOut, durationMs } = check;
  const proven = mustProve(report, { ...request, timedOut, timeoutMs: call.timeoutMs });
  const run = toRun(profile, proven);
  await results.saveRun(toKept(run, toRun(profile, { ...proven, failures: unproven(proven, request.again, others) })));
  const said = [output.stdout, output.stderr].filter((text) => text !== '').join('\n--- stderr ---\n');
  return { run, command, output: said, exitCode: output.exitCode, timedOut, durationMs };
}

/** Of several projects one that cannot be asked does not keep the others from answering. */
export async function runEach(calls: readonly TestCall[], context: ToolContext): Promise<readonly RanTests[]> {
  const work = async () => {
    const ran: RanTests[] = [];
    for (const call of calls) {
      const answer = runTests(call, context);
      ran.push(await (calls.length > 1 ? answer.catch((thrown) => toBroken(thrown, call)) : answer));
    }
    return ran;
  };
  const toVerdicts = (ran: readonly RanTests[]) => ran.flatMap(({ run }, index) => toVerdict(run, calls[index]));
  return tellHistory(context, work, toVerdicts);
}

/** Some tests that pass prove nothing of the rest; some that fail are enough. */
function toVerdict(run: TestRun, call: TestCall | undefined) {
  const { state: verdict } = run;
  const { files = [], name, again } = call?.request ?? {};
  const isWhole = files.length === 0 && name === undefined && again === undefined;
  const isKnown = verdict === 'failed' || verdict === 'broken' || (verdict === 'passed' && isWhole);
  return isKnown ? [{ tool: 'run_tests', project: nameProject(run), verdict }] : [];
}

const cannotBeAsked: readonly string[] = ['E_TOOL_MISSING', 'E_INVALID_INPUT', 'E_NO_PROJECT'];

function toBroken(thrown: unknown, { profile }: TestCall): RanTests {
  if (!AppError.is(thrown) || !cannotBeAsked.includes(thrown.code)) throw thrown;
  const report = {
    state: 'broken',
    passed: null,
    failed: 0,
    skipped: null,
    failures: [],
    reason: thrown.message,
  } as const;
  const nothing = { output: '', exitCode: null, timedOut: false, durationMs: 0 };
  return { run: toRun(profile, report), command: profile.test?.argv ?? [], ...nothing };
}

/** Whatever a runner is understood to say, a run that was cut short or did not run what was asked for is not green. */
function mustProve(
  report: TestReport,
  { files, again, timedOut, timeoutMs }: TestCall['request'] & { timedOut: boolean; timeoutMs: number },
): TestReport {
  if (timedOut) return { ...report, state: 'broken', reason: `time ran out after ${timeoutMs / 1000}s` };
  const asked = new Set(again?.filter(({ isBuild }) => !isBuild).map(({ id, name, file }) => `${file} ${id ?? name}`));
  const { state, passed, ranFiles } = report;
  const left = state === 'passed' && ranFiles ? files.find((file) => !isAmong(file, ranFiles)) : undefined;
  if (left !== undefined)
    return { ...report, state: 'broken', reason: `${left} was not run: it is no test file of it` };
  if (state !== 'passed' || passed === null || passed >= asked.size) return report;
  const reason = `${asked.size} tests had failed and only ${passed} ran again; the others are renamed, gone or skipped`;
  return { ...report, state: 'broken', reason };
}

/** A directory may be asked for too. */
function isAmong(asked: string, ran: readonly string[]): boolean {
  return ran.some((file) => file === asked || file.startsWith(`${asked}/`)) || /[*?{]/.test(asked);
}

/** A run that did not get as far as an answer says nothing of the tests that it was to run again. */
function unproven(
  { state }: TestReport,
  again: readonly TestFailure[] = [],
  others: readonly TestFailure[],
): readonly TestFailure[] {
  const isAnswer = state === 'passed' || state === 'failed';
  return isAnswer ? others : [...again.filter(({ isBuild }) => !isBuild), ...others];
}

function toKept(run: TestRun, { failures: rest }: TestRun): TestRun {
  if (rest.length === 0) return run;
  const isNew = ({ name, file }: TestFailure) =>
    !run.failures.some((failure) => failure.name === name && failure.file === file);
  const added = rest.filter(isNew);
  const state = run.state === 'passed' ? 'failed' : run.state;
  return { ...run, state, failed: run.failed + added.length, failures: [...run.failures, ...added] };
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
