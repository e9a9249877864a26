import type { Readable } from 'node:stream';
import { AppError } from '@croft/protocol';
import type { Redact } from '../../lib/redact.ts';
import { createOutputBuffer, type OutputBuffer } from '../../lib/text/output-buffer.ts';
import { stripControl } from '../../lib/text/strip-control.ts';
import { collectDenials, renderDenials } from './denials.ts';
import type { CommandSpec, Denial, Exit, Running, Sandbox } from './sandbox.ts';

export interface CommandRequest {
  readonly argv: CommandSpec['argv'];
  readonly timeoutMs: number;
  readonly environment?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** How much of what it prints is kept. */
  readonly bytes?: ShownBytes | undefined;
  /** Takes the secrets out of what was refused. */
  readonly redact?: Redact;
}

export interface CommandResult {
  /** Both streams as they came. */
  readonly output: string;
  readonly stdout: string;
  readonly stderr: string;
  /** 124 when time ran out, as `timeout` has it; `null` when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  readonly durationMs: number;
  readonly truncated: boolean;
  readonly denials: readonly Denial[];
}

/** Half from the beginning, half from the end: the first error and the last word. */
const shownBytes = { headBytes: 50 * 1024, tailBytes: 50 * 1024 };

/** A command that is running and what it has printed. */
export interface StartedCommand {
  readonly sandbox: Sandbox;
  readonly running: Running;
  readonly startedAt: number;
  readonly all: OutputBuffer;
  readonly stdout: OutputBuffer;
  readonly stderr: OutputBuffer;
  /** When it has ended and everything printed until then is in the buffers. */
  readonly ended: Promise<Exit>;
}

/** Called with each piece of output as it comes. */
export type Observe = (stream: 'stdout' | 'stderr', chunk: Buffer) => void;

type ShownBytes = typeof shownBytes;

interface CollectOptions {
  readonly bytes?: ShownBytes | undefined;
  readonly observe?: Observe;
}

export function startCommand(sandbox: Sandbox, spec: CommandSpec, options: CollectOptions = {}): StartedCommand {
  const { bytes = shownBytes, observe } = options;
  const [all, stdout, stderr] = [createOutputBuffer(bytes), createOutputBuffer(bytes), createOutputBuffer(bytes)];
  const running = sandbox.start(spec);
  const read = Promise.all([
    collect(running.stdout, [stdout, all], (chunk) => observe?.('stdout', chunk)),
    collect(running.stderr, [stderr, all], (chunk) => observe?.('stderr', chunk)),
  ]);
  const ended = running.exit.then(async (exit) => {
    await read;
    return exit;
  });
  // Whoever waits for it is told; somebody may be waiting for something else first.
  ended.catch(() => {});
  return { sandbox, running, startedAt: performance.now(), all, stdout, stderr, ended };
}

/** Runs to the end or to the end of its time; whatever it printed until then is in the result. */
export async function runCommand(sandbox: Sandbox, request: CommandRequest): Promise<CommandResult> {
  const { argv, environment, signal, timeoutMs, bytes, redact } = request;
  const started = startCommand(sandbox, { argv, signal, ...(environment && { environment }) }, { bytes });
  const exit = await within(started.ended, timeoutMs);
  if (!exit) started.running.kill();
  return toResult(started, exit ?? (await started.ended), { timedOut: !exit, redact });
}

/** `undefined` when the time runs out first. */
export async function within<T>(work: Promise<T>, timeoutMs: number): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), timeoutMs);
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

interface ResultOptions {
  readonly timedOut: boolean;
  readonly redact?: Redact | undefined;
}

export function toResult(started: StartedCommand, exit: Exit, { timedOut, redact }: ResultOptions): CommandResult {
  const { sandbox, all, stdout, stderr, startedAt } = started;
  const output = stripControl(all.toText());
  return {
    output,
    stdout: stripControl(stdout.toText()),
    stderr: stripControl(stderr.toText()),
    exitCode: timedOut ? 124 : exit.code,
    signal: exit.signal,
    timedOut,
    durationMs: Math.round(performance.now() - startedAt),
    truncated: all.dropped > 0,
    denials: collectDenials(sandbox, { output, exit }, redact),
  };
}

/** As the model reads it: what was printed, then how it ended if not well, then what was refused and why. */
export function renderResult(result: CommandResult, timeoutMs: number, program = 'bash'): string {
  const { output, timedOut, exitCode, signal, denials } = result;
  const lines = [output === '' || output.endsWith('\n') ? output : `${output}\n`];
  if (timedOut) lines.push(`${program}: timed out after ${timeoutMs / 1000}s\n`);
  if (timedOut || exitCode !== 0) lines.push(exitCode === null ? `killed by ${signal}\n` : `exit: ${exitCode}\n`);
  return lines.join('') + renderDenials(denials);
}

async function collect(
  stream: Readable,
  buffers: readonly OutputBuffer[],
  seen: (chunk: Buffer) => void,
): Promise<void> {
  for await (const chunk of stream) {
    for (const buffer of buffers) buffer.append(chunk);
    seen(chunk);
  }
}

/** A command line is for bash; refused where it could never work. */
export function rejected(token: string): AppError {
  return new AppError('E_COMMAND_REJECTED', `command rejected: command uses denylisted token "${token}"`, {
    details: { token },
  });
}
