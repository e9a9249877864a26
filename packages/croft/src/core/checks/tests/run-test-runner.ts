import { withFiles } from '../../project-tools/linter.ts';
import type { CheckOutput, TestReport, TestRequest, TestRunner } from '../../project-tools/test-runner.ts';
import type { Argv, CheckCommand, Profile } from '../../projects/profile.ts';
import { readScriptOutput } from '../../readers/tests/read-script-output.ts';
import { missingTestReport } from '../../readers/tests/to-test-report.ts';
import type { ToolContext } from '../../tools/tool.ts';
import { findMissingProgram, isMissingToolError, missingToolError } from '../missing-tool.ts';
import { type CheckRun, runCheck } from '../run-check.ts';
import { rejectUnsupportedSelection } from './choose-tests.ts';
import { expandNamedFiles } from './expand-named-files.ts';
import { noTestCommandError } from './no-test-command-error.ts';
import { readNewReports, stampReports } from './read-new-reports.ts';
import { toReportFile, withoutReportFile } from './render-test-command.ts';

export interface TestRunnerCall {
  readonly profile: Profile;
  readonly request: Omit<TestRequest, 'reportFile'>;
  readonly timeoutMs: number;
  readonly tool: string;
}

interface TestRunnerRun {
  /** The command as a person would type it, without the options that Croft adds. */
  readonly command: readonly string[];
  readonly check: CheckRun;
  readonly report: TestReport;
}

/** Runs the project's test runner and reads its report. A full run uses the project's own command. */
export async function runTestRunner(call: TestRunnerCall, context: ToolContext): Promise<TestRunnerRun> {
  const { test } = call.profile;
  if (!test) throw noTestCommandError(call.profile);
  if (isPartialRequest(call.request) || !test.whole) return runCommandOf(test, call, context);
  const { whole } = test;
  try {
    return await runCommandOf(whole, call, context);
  } catch (thrown) {
    // The package manager is missing, but the program that it would start may be there.
    const [manager] = whole.argv;
    if (!isMissingToolError(thrown) || thrown.details.program !== manager || test.argv[0] === manager) throw thrown;
    return runCommandOf(test, call, context);
  }
}

/** Whether only some tests are requested. If those pass, that says nothing about the others. */
export function isPartialRequest({ files, name, again }: TestRunnerCall['request']): boolean {
  return files.length > 0 || (name !== undefined && name !== '') || again !== undefined;
}

async function runCommandOf(test: CheckCommand, call: TestRunnerCall, context: ToolContext): Promise<TestRunnerRun> {
  const { session, workspace, signal } = context;
  const runner = workspace.checks.testRunner(test.tool);
  rejectUnsupportedSelection(runner, test.argv, call.request);
  return session.sandboxes.use(workspace.name, async (sandbox) => {
    const deadline = performance.now() + call.timeoutMs;
    const run = (argv: Argv, reportFile?: string) => {
      const { environment } = runner;
      const timeoutMs = Math.max(1, deadline - performance.now());
      return runCheck(sandbox, { ...call, argv, environment, timeoutMs, signal, reportFile, context });
    };
    const asked = { temporaryPath: sandbox.temporaryPath, call, runner, test, files: workspace.files };
    const stopped = await prepare(runner.before?.(test.argv) ?? [], run);
    return throwIfProgramMissing(stopped ?? (await ask({ ...asked, run })), call);
  });
}

/** Throws `E_TOOL_MISSING` also for a program that a shell or build tool could not start. */
function throwIfProgramMissing(ran: TestRunnerRun, { profile, tool }: TestRunnerCall): TestRunnerRun {
  const { state, failures } = ran.report;
  const isAnswer = state === 'passed' || state === 'empty' || failures.some(({ isBuild }) => !isBuild);
  const missing = isAnswer || ran.check.timedOut ? undefined : findMissingProgram(ran.check.output);
  if (missing !== undefined) throw missingToolError(missing, { profile, tool });
  return ran;
}

type RunArgv = (argv: Argv, reportFile?: string) => Promise<CheckRun>;

/** Runs the steps before the tests. Returns the first that failed, or `undefined`. */
async function prepare(steps: readonly Argv[], run: RunArgv): Promise<TestRunnerRun | undefined> {
  for (const command of steps) {
    const check = await run(command);
    if (check.timedOut || check.output.exitCode !== 0)
      return { command, check, report: missingTestReport(check.output) };
  }
  return undefined;
}

interface AskOptions {
  readonly temporaryPath: string;
  readonly call: TestRunnerCall;
  readonly runner: TestRunner;
  readonly test: CheckCommand;
  readonly run: RunArgv;
  readonly files: ToolContext['workspace']['files'];
}

async function ask({ temporaryPath, call, runner, test, run, files }: AskOptions): Promise<TestRunnerRun> {
  const reportFile = toReportFile(temporaryPath);
  const { directory } = call.profile;
  const named = await expandNamedFiles(test.named ?? [], { files, directory, takesOnlyFiles: !!runner.takesOnlyFiles });
  const command = runner.toArgv(test.argv, { ...call.request, named, reportFile });
  const search = runner.reports && { files, profile: call.profile, location: runner.reports };
  const before = search && (await stampReports(search));
  const ran = await run(command, search ? undefined : reportFile);
  const output = {
    ...ran.output,
    ...(search && before && { report: await readNewReports(search, before) }),
    ...(await askFollowUp(runner, ran, run)),
  };
  const shown = isPartialRequest(call.request)
    ? withoutReportFile(command, reportFile)
    : withFiles(test.argv, [], named);
  return { command: shown, check: { ...ran, output }, report: readBy(runner, test, output) };
}

/** One of several steps may fail before the test runner starts, or the script may silence it. */
function readBy(runner: TestRunner, { isOneOfSeveral }: CheckCommand, output: CheckOutput): TestReport {
  const report = runner.read(output);
  return isOneOfSeveral && report.passed === null ? readScriptOutput(output) : report;
}

async function askFollowUp({ followUp }: TestRunner, { output, timedOut }: CheckRun, run: RunArgv) {
  if (!followUp || timedOut || output.exitCode === 0) return {};
  const asked = await run(followUp);
  return asked.output.exitCode === 0 ? { followUpOutput: asked.output.stdout } : {};
}
