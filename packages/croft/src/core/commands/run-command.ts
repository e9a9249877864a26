import type { Readable } from 'node:stream';
import { AppError } from '@croft/protocol';
import type { Redact } from '../../lib/redaction/redact.ts';
import { createOutputBuffer, type OutputBuffer } from '../../lib/text/lines/output-buffer.ts';
import { stripControlSequences } from '../../lib/text/strip-control-sequences.ts';
import { renderDenials, takeSandboxDenials } from './denials/sandbox-denials.ts';
import type { CommandSpec, ProgramExit, RunningProgram, Sandbox, SandboxDenial } from './sandbox.ts';

interface CommandRequest {
  readonly argv: CommandSpec['argv'];
  readonly timeoutMs: number;
  readonly environment?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** How much of the output is stored. */
  readonly bytes?: OutputLimits | undefined;
  /** Redacts secrets in denials. */
  readonly redact?: Redact;
  readonly follower?: OutputFollower | undefined;
}

interface CommandResult {
  /** Both streams in the order of arrival. */
  readonly output: string;
  readonly stdout: string;
  readonly stderr: string;
  /** 124 on a timeout, as the program `timeout` has it; `null` if a signal ended the command. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  readonly durationMs: number;
  readonly truncated: boolean;
  readonly denials: readonly SandboxDenial[];
}

/** Half from the beginning, half from the end: the first error and the last line. */
const defaultOutputLimits = { headBytes: 50 * 1024, tailBytes: 50 * 1024 };

/** A running command and its output so far. */
export interface StartedCommand {
  readonly sandbox: Sandbox;
  readonly running: RunningProgram;
  readonly startedAt: number;
  readonly all: OutputBuffer;
  readonly stdout: OutputBuffer;
  readonly stderr: OutputBuffer;
  /** Resolves when the command has ended and its output is in the buffers. */
  readonly ended: Promise<ProgramExit>;
}

/** Receives each piece of output as it arrives. The command waits while the promise is pending. */
export type OutputObserver = (stream: 'stdout' | 'stderr', chunk: Buffer) => Promise<void> | void;

/** Follows the output of a command while it runs, beside its answer. */
export interface OutputFollower {
  /** Receives a function that reads the stored output so far. */
  begins(read: () => string): void;
  /** Absent: nobody waits for the pieces. */
  readonly observe?: OutputObserver | undefined;
  /** Variables that tell programs for which reader they print. Variables of the command itself win. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
}

type OutputLimits = typeof defaultOutputLimits;

interface StartOptions {
  readonly bytes?: OutputLimits | undefined;
  readonly observe?: OutputObserver | undefined;
  readonly follower?: OutputFollower | undefined;
}

export function startCommand(sandbox: Sandbox, spec: CommandSpec, options: StartOptions = {}): StartedCommand {
  const { bytes = defaultOutputLimits, follower, observe = follower?.observe } = options;
  const [all, stdout, stderr] = [createOutputBuffer(bytes), createOutputBuffer(bytes), createOutputBuffer(bytes)];
  const running = sandbox.start(withEnvironment(spec, follower?.environment));
  const read = Promise.all([
    readStream(running.stdout, [stdout, all], (chunk) => observe?.('stdout', chunk)),
    readStream(running.stderr, [stderr, all], (chunk) => observe?.('stderr', chunk)),
  ]);
  const ended = running.exit.then(async (exit) => {
    await read;
    return exit;
  });
  sandbox.onActivity?.(() => describeRunning(spec, all));
  follower?.begins(() => all.toText());
  // Callers that await `ended` get the rejection. This handler covers callers that still wait for something else.
  ended.catch(() => {});
  return { sandbox, running, startedAt: performance.now(), all, stdout, stderr, ended };
}

function withEnvironment(spec: CommandSpec, more: OutputFollower['environment']): CommandSpec {
  return more ? { ...spec, environment: { ...more, ...spec.environment } } : spec;
}

/** Describes a running command by its command line, without the shell, and the last line that it printed. */
function describeRunning({ argv }: CommandSpec, all: OutputBuffer): string {
  const [program, flag, line] = argv;
  const command = program === 'bash' && flag === '-c' && line !== undefined ? line : argv.join(' ');
  const last = stripControlSequences(all.toText()).trimEnd().split('\n').at(-1)?.trim() ?? '';
  return last === '' ? command : `${command.slice(0, 120)} printed: ${last}`;
}

/** Runs a command until it ends or times out. The result has everything printed until then. */
export async function runCommand(sandbox: Sandbox, request: CommandRequest): Promise<CommandResult> {
  const { argv, environment, signal, timeoutMs, bytes, redact, follower } = request;
  await sandbox.ready?.({ argv, signal });
  const started = startCommand(sandbox, { argv, signal, ...(environment && { environment }) }, { bytes, follower });
  const exit = await resultWithin(started.ended, timeoutMs);
  if (!exit) started.running.kill();
  return toCommandResult(started, exit ?? (await started.ended), { timedOut: !exit, redact });
}

/** Waits for `work`; `undefined` if the time runs out first. */
export async function resultWithin<T>(work: Promise<T>, timeoutMs: number): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), timeoutMs);
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

interface ResultOptions {
  readonly timedOut: boolean;
  readonly redact?: Redact | undefined;
}

export function toCommandResult(
  started: StartedCommand,
  exit: ProgramExit,
  { timedOut, redact }: ResultOptions,
): CommandResult {
  const { sandbox, all, stdout, stderr, startedAt } = started;
  const output = stripControlSequences(all.toText());
  return {
    output,
    stdout: stripControlSequences(stdout.toText()),
    stderr: stripControlSequences(stderr.toText()),
    exitCode: timedOut ? 124 : exit.code,
    signal: exit.signal,
    timedOut,
    durationMs: Math.round(performance.now() - startedAt),
    truncated: all.dropped > 0,
    denials: takeSandboxDenials(sandbox, { output, exit }, redact),
  };
}

/** Renders a result for the model: the output, then how the command ended unless it succeeded, then the denials. */
export function renderCommandResult(result: CommandResult, timeoutMs: number, program = 'bash'): string {
  const { output, timedOut, exitCode, signal, denials } = result;
  const lines = [output === '' || output.endsWith('\n') ? output : `${output}\n`];
  if (timedOut) lines.push(`${program}: timed out after ${timeoutMs / 1000}s\n`);
  if (timedOut || exitCode !== 0) lines.push(exitCode === null ? `killed by ${signal}\n` : `exit: ${exitCode}\n`);
  return lines.join('') + renderDenials(denials);
}

/** Says that a command succeeded and printed nothing: to a model, an empty answer looks like a lost one. */
export function noOutputNotice({ output, exitCode }: CommandResult): string[] {
  return exitCode === 0 && output.trim() === '' ? ['The command printed nothing and ended with exit 0.\n'] : [];
}

async function readStream(
  stream: Readable,
  buffers: readonly OutputBuffer[],
  seen: (chunk: Buffer) => Promise<void> | void,
): Promise<void> {
  for await (const chunk of stream) {
    for (const buffer of buffers) buffer.append(chunk);
    await seen(chunk);
  }
}

/** The error for a command that could never work in a sandbox. */
export function rejectedCommandError(token: string): AppError {
  return new AppError('E_COMMAND_REJECTED', `command rejected: command uses denylisted token "${token}"`, {
    details: { token },
  });
}
