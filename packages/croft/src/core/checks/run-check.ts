import { AppError } from '@croft/protocol';
import { stripControl } from '../../lib/text/strip-control.ts';
import { collectDenials } from '../commands/denials.ts';
import { runCommand, type StartedCommand, startCommand, within } from '../commands/run-command.ts';
import type { Exit, Sandbox } from '../commands/sandbox.ts';
import type { Argv, Profile } from '../projects/profile.ts';
import type { ToolContext } from '../tool.ts';
import { toolMissing } from './missing-tool.ts';
import type { CheckOutput } from './test-runner.ts';

/** `ENOENT`, which is the same number on every system that sandboxes run on. */
const notFound = 2;

/**
 * Nobody is there to answer or to see colours. Python takes a source of the same size and second for the one that it has
 * compiled before, so that an edit would not be seen: no run of ours leaves what it compiled.
 */
const everywhere = { CI: '1', NO_COLOR: '1', PYTHONDONTWRITEBYTECODE: '1' };

/** Enough for every failure of a large suite; read whole, because what is cut off could be the one that failed. */
const readBytes = { headBytes: 8 * 1024 * 1024, tailBytes: 8 * 1024 * 1024 };

export interface CheckRequest {
  readonly profile: Profile;
  readonly argv: Argv;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** A path in `/tmp` where it may leave a report: a file, or a directory of them. */
  readonly reportFile?: string | undefined;
  /** Where to tell what the fence refused it. */
  readonly context: Pick<ToolContext, 'secrets' | 'refused'>;
  /** Who asks, for what is said when the program is missing. */
  readonly tool?: string | undefined;
}

export interface CheckRun {
  readonly output: CheckOutput;
  readonly timedOut: boolean;
  readonly durationMs: number;
}

/** Runs a check of a project in the sandbox. Throws `E_TOOL_MISSING` when there is no such program. */
export async function runCheck(sandbox: Sandbox, request: CheckRequest): Promise<CheckRun> {
  const { profile, argv, timeoutMs, signal, environment, reportFile } = request;
  const directory = directoryOf(sandbox, profile);
  const spec = { argv, directory, signal, environment: { ...everywhere, ...environment } };
  const started = startCommand(sandbox, spec, { bytes: readBytes });
  const exit = await within(started.ended, timeoutMs).catch((thrown) => {
    throw toMissing(thrown, request);
  });
  if (!exit) started.running.kill();
  const { code, signal: killedBy } = exit ?? (await started.ended);
  tellRefused(started, { code, signal: killedBy }, request.context);
  return {
    output: {
      stdout: stripControl(started.stdout.toText()),
      stderr: stripControl(started.stderr.toText()),
      exitCode: exit ? code : 124,
      report: reportFile === undefined ? undefined : await readReport(sandbox, reportFile, signal),
      isCut: started.stdout.dropped > 0 || started.stderr.dropped > 0,
      directory,
    },
    timedOut: !exit,
    durationMs: Math.round(performance.now() - started.startedAt),
  };
}

function tellRefused(started: StartedCommand, exit: Pick<Exit, 'code' | 'signal'>, context: CheckRequest['context']) {
  const output = stripControl(started.all.toText());
  const denials = collectDenials(started.sandbox, { output, exit }, context.secrets.redact);
  if (denials.length > 0) context.refused(denials);
}

export function directoryOf({ workspacePath }: Sandbox, { directory }: Profile): string {
  return directory === '' ? workspacePath : `${workspacePath}/${directory}`;
}

const reportBytes = { headBytes: 32 * 1024 * 1024, tailBytes: 0 };

/** What it left in the sandbox, and takes it away. Nothing if that is too much to be read whole. */
async function readReport(sandbox: Sandbox, path: string, signal: AbortSignal): Promise<string | undefined> {
  const argv = ['find', path, '-type', 'f', '-exec', 'cat', '{}', '+'] as const;
  const started = startCommand(sandbox, { argv, signal }, { bytes: reportBytes });
  const { code } = await started.ended;
  await runCommand(sandbox, { argv: ['rm', '-rf', path], timeoutMs: 5000, signal });
  return code === 0 && started.stdout.dropped === 0 ? started.stdout.toText() : undefined;
}

/** Only when there is no such program: one that cannot be started for another reason is not missing. */
function toMissing(thrown: unknown, { argv, profile, tool }: CheckRequest): unknown {
  if (!AppError.is(thrown) || thrown.code !== 'E_COMMAND_NOT_STARTED') return thrown;
  if (thrown.details.errno !== notFound) return thrown;
  return toolMissing(argv[0], { profile, tool, cause: thrown });
}
