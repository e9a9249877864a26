import { PassThrough, type Readable, Writable } from 'node:stream';
import { AppError } from '@croft/protocol';
import type { z } from 'zod';
import {
  type CommandSpec,
  type ProgramExit,
  plainCommandHint,
  type RunningProgram,
  type SandboxDenial,
} from '../../core/commands/sandbox.ts';
import { toPieces } from '../../link/calls/bounded-streams.ts';
import { decodeError } from '../../link/calls/error-codec.ts';
import {
  type Command,
  type Ended,
  maxCommandBytes,
  maxInlineBytes,
  startProgram,
  streams,
} from '../../link/methods/sandbox.ts';
import type { RpcCall, RpcClient } from './rpc/rpc-client.ts';
import { toRunnerError } from './rpc/runner-errors.ts';

/** Limit of unread output, as for a sandbox of this machine. */
const windowBytes = 256 * 1024;

/** Starts a program in a sandbox of the runner. The whole program is one call. */
export function startRemoteProgram(
  rpc: RpcClient,
  sandbox: string,
  spec: CommandSpec,
  onDenials: (denials: readonly SandboxDenial[]) => void,
): RunningProgram {
  const command = toCommand(spec);
  const text = Buffer.from(JSON.stringify(command));
  const isInline = text.length <= maxInlineBytes;
  const asked = rpc.begin(startProgram, isInline ? { sandbox, command } : { sandbox });
  if (!isInline) asked.sendTo(streams.command, toPieces(text)).catch(() => {});
  const kill = () => asked.sendMessage({ type: 'kill' });
  spec.signal.addEventListener('abort', kill, { once: true });
  asked.finished.addEventListener('abort', () => spec.signal.removeEventListener('abort', kill), { once: true });
  const exit = asked.answer.then(({ end, denials }) => {
    onDenials(denials);
    return toExit(end, startProgram.name);
  });
  exit.catch(() => {});
  return {
    stdin: command.hasInput || command.terminal ? asked.writable(streams.stdin) : noInput(),
    ...toOutputs(asked),
    exit,
    kill,
    signal: (name) => asked.sendMessage({ type: 'signal', name }),
    resize: ({ rows, columns }) => asked.sendMessage({ type: 'resize', rows, columns }),
  };
}

export function toOutputs(asked: RpcCall<unknown>): Pick<RunningProgram, 'stdout' | 'stderr'> {
  return { stdout: toOutput(asked.readable(streams.stdout)), stderr: toOutput(asked.readable(streams.stderr)) };
}

/** The output ends normally even if the program or the link fails: `exit` has the reason. */
function toOutput(source: Readable): Readable {
  const output = new PassThrough({ highWaterMark: windowBytes });
  source.on('error', () => output.end());
  output.on('error', () => {});
  // A reader that stopped still waits for the exit, so that the rest is discarded.
  output.once('close', () => source.destroy());
  return source.pipe(output);
}

function noInput(): Writable {
  const none = new Writable();
  none.on('error', () => {});
  return none.destroy();
}

export function toExit(end: z.output<typeof Ended>, method: string): ProgramExit {
  if ('exit' in end) return end.exit;
  throw toRunnerError(decodeError(end.failure), method);
}

/** Throws for a command that no sandbox can start, before anything is sent. */
function toCommand(spec: CommandSpec): z.input<typeof Command> {
  const { argv, directory, environment, terminal, hasInput = false, isMerged = false } = spec;
  const strings = [directory ?? '', ...argv, ...Object.entries(environment ?? {}).flat()];
  if (strings.some((text) => text.includes('\0'))) throw cannotStart('an argument holds a NUL byte');
  const bytes = strings.reduce((total, text) => total + Buffer.byteLength(text) + 1, 0);
  if (bytes > maxCommandBytes) throw cannotStart('the command is too long');
  const [program, ...args] = argv;
  return { argv: [program, ...args], directory, environment: { ...environment }, hasInput, isMerged, terminal };
}

function cannotStart(reason: string): AppError {
  return new AppError('E_COMMAND_NOT_STARTED', `the program could not be started: ${reason}`, {
    hint: plainCommandHint,
  });
}
