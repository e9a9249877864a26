import { AppError } from '@croft/protocol';
import { stripControlSequences } from '../../lib/text/strip-control-sequences.ts';
import { takeSandboxDenials } from '../commands/denials/sandbox-denials.ts';
import { resultWithin, runCommand, type StartedCommand, startCommand } from '../commands/run-command.ts';
import type { ProgramExit, Sandbox } from '../commands/sandbox.ts';
import type { CheckOutput } from '../project-tools/test-runner.ts';
import type { Argv, Profile } from '../projects/profile.ts';
import type { ToolContext } from '../tools/tool.ts';
import { missingToolError } from './missing-tool.ts';

/** `ENOENT`, which is the same number on every system that sandboxes run on. */
const notFound = 2;

/**
 * Python reuses bytecode for a source of the same size and second, and would miss an edit: checks leave no bytecode. No
 * other variable is set, because projects read `CI` and `NO_COLOR` too.
 */
const commonEnvironment = { PYTHONDONTWRITEBYTECODE: '1' };

/** Enough for every failure of a large suite. The output is read whole, because a cut part could hold the failure. */
const outputBytes = { headBytes: 8 * 1024 * 1024, tailBytes: 8 * 1024 * 1024 };

export interface CheckRequest {
  readonly profile: Profile;
  readonly argv: Argv;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /**
   * A path in the sandbox's temporary directory where the program may leave a report: a file, or a directory of files.
   */
  readonly reportFile?: string | undefined;
  /** Receives the denials of the sandbox. */
  readonly context: Pick<ToolContext, 'secrets' | 'reportDenials'>;
  /** The calling tool, for the error when the program is missing. */
  readonly tool?: string | undefined;
}

export interface CheckRun {
  readonly output: CheckOutput;
  readonly timedOut: boolean;
  readonly durationMs: number;
}

/** Runs a project's check in the sandbox. Throws `E_TOOL_MISSING` if the program does not exist. */
export async function runCheck(sandbox: Sandbox, request: CheckRequest): Promise<CheckRun> {
  const { profile, argv, timeoutMs, signal, environment, reportFile } = request;
  const directory = projectPathIn(sandbox, profile);
  const spec = { argv, directory, signal, environment: { ...commonEnvironment, ...environment } };
  await sandbox.ready?.(spec);
  const started = startCommand(sandbox, spec, { bytes: outputBytes });
  const exit = await resultWithin(started.ended, timeoutMs).catch((thrown) => {
    throw toMissingToolError(thrown, request);
  });
  if (!exit) started.running.kill();
  const { code, signal: killedBy } = exit ?? (await started.ended);
  reportDenials(started, { code, signal: killedBy }, request.context);
  return {
    output: {
      stdout: stripControlSequences(started.stdout.toText()),
      stderr: stripControlSequences(started.stderr.toText()),
      exitCode: exit ? code : 124,
      report: reportFile === undefined ? undefined : await readReport(sandbox, reportFile, signal),
      isCut: started.stdout.dropped > 0 || started.stderr.dropped > 0,
      directory,
    },
    timedOut: !exit,
    durationMs: Math.round(performance.now() - started.startedAt),
  };
}

function reportDenials(
  started: StartedCommand,
  exit: Pick<ProgramExit, 'code' | 'signal'>,
  context: CheckRequest['context'],
) {
  const output = stripControlSequences(started.all.toText());
  const denials = takeSandboxDenials(started.sandbox, { output, exit }, context.secrets.redact);
  if (denials.length > 0) context.reportDenials(denials);
}

function projectPathIn({ workspacePath }: Sandbox, { directory }: Profile): string {
  return directory === '' ? workspacePath : `${workspacePath}/${directory}`;
}

const reportBytes = { headBytes: 32 * 1024 * 1024, tailBytes: 0 };

/**
 * Reads the report that a check left in the sandbox, and deletes it. `undefined` if it is too large to be read whole.
 */
async function readReport(sandbox: Sandbox, path: string, signal: AbortSignal): Promise<string | undefined> {
  const argv = ['find', path, '-type', 'f', '-exec', 'cat', '{}', '+'] as const;
  const started = startCommand(sandbox, { argv, signal }, { bytes: reportBytes });
  const { code } = await started.ended;
  await runCommand(sandbox, { argv: ['rm', '-rf', path], timeoutMs: 5000, signal });
  return code === 0 && started.stdout.dropped === 0 ? started.stdout.toText() : undefined;
}

/** Converts only a missing program: one that cannot be started for another reason is not missing. */
function toMissingToolError(thrown: unknown, { argv, profile, tool }: CheckRequest): unknown {
  if (!AppError.is(thrown) || thrown.code !== 'E_COMMAND_NOT_STARTED') return thrown;
  if (thrown.details.errno !== notFound) return thrown;
  return missingToolError(argv[0], { profile, tool, cause: thrown });
}
