import { PassThrough, type Readable, Writable } from 'node:stream';
import { AppError } from '@croft/protocol';
import type { z } from 'zod';
import type { CommandSpec, Denial, Exit, Running } from '../../core/commands/sandbox.ts';
import { decodeError } from '../../link/errors.ts';
import { toPieces } from '../../link/methods/body.ts';
import {
  type Command,
  type Ended,
  maxCommandBytes,
  maxInlineBytes,
  startProgram,
  streams,
} from '../../link/methods/sandbox.ts';
import type { Asked, Asking } from './asking.ts';
import { tame } from './nonsense.ts';

/** As much of an output as a sandbox of this machine holds for its reader. */
const windowBytes = 256 * 1024;

/** One call: nothing is asked before it and nothing after. */
export function startProgramIn(
  asking: Asking,
  sandbox: string,
  spec: CommandSpec,
  onDenials: (denials: readonly Denial[]) => void,
): Running {
  const command = toCommand(spec);
  const text = Buffer.from(JSON.stringify(command));
  const isInline = text.length <= maxInlineBytes;
  const asked = asking.begin(startProgram, isInline ? { sandbox, command } : { sandbox });
  if (!isInline) asked.sendTo(streams.command, toPieces(text)).catch(() => {});
  const kill = () => asked.tell({ type: 'kill' });
  spec.signal.addEventListener('abort', kill, { once: true });
  asked.settled.addEventListener('abort', () => spec.signal.removeEventListener('abort', kill), { once: true });
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
    signal: (name) => asked.tell({ type: 'signal', name }),
    resize: ({ rows, columns }) => asked.tell({ type: 'resize', rows, columns }),
  };
}

export function toOutputs(asked: Asked<unknown>): Pick<Running, 'stdout' | 'stderr'> {
  return { stdout: toOutput(asked.readable(streams.stdout)), stderr: toOutput(asked.readable(streams.stderr)) };
}

/** An output ends, also where its program or the link does: why is told by the exit. */
function toOutput(source: Readable): Readable {
  const output = new PassThrough({ highWaterMark: windowBytes });
  source.on('error', () => output.end());
  output.on('error', () => {});
  // Who stopped reading waits for the end all the same: the rest goes by.
  output.once('close', () => source.destroy());
  return source.pipe(output);
}

function noInput(): Writable {
  const none = new Writable();
  none.on('error', () => {});
  return none.destroy();
}

export function toExit(end: z.output<typeof Ended>, method: string): Exit {
  if ('exit' in end) return end.exit;
  throw tame(decodeError(end.failure), method);
}

/** Throws for what no sandbox would start, before anything waits for it. */
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
  return new AppError('E_COMMAND_NOT_STARTED', `the program could not be started: ${reason}`);
}
