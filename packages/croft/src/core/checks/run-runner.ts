import { AppError } from '@croft/protocol';
import type { Argv, Check, Profile } from '../projects/profile.ts';
import { withoutReport } from '../readers/read-tests.ts';
import type { ToolContext } from '../tool.ts';
import { mustPick } from './asked-files.ts';
import { findMissing, toolMissing } from './missing-tool.ts';
import { expandNamed } from './named-files.ts';
import { readNewReports, stampReports } from './project-reports.ts';
import { type CheckRun, runCheck } from './run-check.ts';
import type { TestReport, TestRequest, TestRunner } from './test-runner.ts';

export interface RunnerCall {
  readonly profile: Profile;
  readonly request: Omit<TestRequest, 'reportFile'>;
  readonly timeoutMs: number;
  readonly tool: string;
}

interface RunnerRun {
  readonly command: Argv;
  readonly check: CheckRun;
  readonly report: TestReport;
}

/** Asks a project's own runner, and reads what it answers. */
export async function runAndRead(call: RunnerCall, context: ToolContext): Promise<RunnerRun> {
  const { session, workspace, signal } = context;
  const { test, language } = call.profile;
  if (!test) throw new AppError('E_NO_PROJECT', `no test command detected (${language})`);
  const runner = workspace.checks.runner(test.tool);
  mustPick(runner, test.argv, call.request);
  return session.sandboxes.use(workspace.name, async (sandbox) => {
    const deadline = performance.now() + call.timeoutMs;
    const run = (argv: Argv, reportFile?: string) => {
      const { environment } = runner;
      const timeoutMs = Math.max(1, deadline - performance.now());
      return runCheck(sandbox, { ...call, argv, environment, timeoutMs, signal, reportFile, context });
    };
    const stopped = await prepare(runner.before?.(test.argv) ?? [], run);
    return mustBeThere(stopped ?? (await ask({ call, runner, test, run, files: workspace.files })), call);
  });
}

/** What a shell or a build tool could not start is as missing as what we could not. */
function mustBeThere(ran: RunnerRun, { profile, tool }: RunnerCall): RunnerRun {
  const { state, failures } = ran.report;
  const isAnswer = state === 'passed' || state === 'empty' || failures.some(({ isBuild }) => !isBuild);
  const missing = isAnswer || ran.check.timedOut ? undefined : findMissing(ran.check.output);
  if (missing !== undefined) throw toolMissing(missing, { profile, tool });
  return ran;
}

type Run = (argv: Argv, reportFile?: string) => Promise<CheckRun>;

/** Nothing if all went well; else the step that did not. */
async function prepare(steps: readonly Argv[], run: Run): Promise<RunnerRun | undefined> {
  for (const command of steps) {
    const check = await run(command);
    if (check.timedOut || check.output.exitCode !== 0) return { command, check, report: withoutReport(check.output) };
  }
  return undefined;
}

interface Question {
  readonly call: RunnerCall;
  readonly runner: TestRunner;
  readonly test: Check;
  readonly run: Run;
  readonly files: ToolContext['workspace']['files'];
}

async function ask({ call, runner, test, run, files }: Question): Promise<RunnerRun> {
  const reportFile = `/tmp/croft-report-${crypto.randomUUID()}`;
  const { directory } = call.profile;
  const named = await expandNamed(test.named ?? [], { files, directory, takesOnlyFiles: !!runner.takesOnlyFiles });
  const command = runner.toArgv(test.argv, { ...call.request, named, reportFile });
  const search = runner.reports && { files, profile: call.profile, place: runner.reports };
  const before = search && (await stampReports(search));
  const ran = await run(command, search ? undefined : reportFile);
  const output = {
    ...ran.output,
    ...(search && before && { report: await readNewReports(search, before) }),
    ...(await askMore(runner, ran, run)),
  };
  return { command, check: { ...ran, output }, report: runner.read(output) };
}

async function askMore({ question }: TestRunner, { output, timedOut }: CheckRun, run: Run) {
  if (!question || timedOut || output.exitCode === 0) return {};
  const asked = await run(question);
  return asked.output.exitCode === 0 ? { answer: asked.output.stdout } : {};
}
