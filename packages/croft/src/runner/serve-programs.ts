import { pipeline } from 'node:stream/promises';
import { AppError } from '@croft/protocol';
import { parseBySchema } from '../core/arguments/parse-by-schema.ts';
import { type ProgramExit, plainCommandHint, type RunningProgram } from '../core/commands/sandbox.ts';
import { collectBytes } from '../link/calls/bounded-streams.ts';
import type { ServedCall } from '../link/calls/peer.ts';
import { Command, maxCommandBytes, ProgramOrder, startProgram, streams } from '../link/methods/sandbox.ts';
import { type HandleTable, type LinkHandlers, listen, parseSentJson, serveMethod } from './serve-helpers.ts';
import type { ServedSandbox } from './serve-sandboxes.ts';

/** JSON may need six bytes for one byte of a command. */
const maxCommandText = 6 * maxCommandBytes;

/** Serves programs in the sandboxes of a link. */
export function servePrograms(sandboxes: HandleTable<ServedSandbox>): LinkHandlers {
  return serveMethod(startProgram, async ({ sandbox: id, command }, call) => {
    const { sandbox, reportWhileRunning } = sandboxes.get(id);
    const { terminal, directory, environment, ...rest } = command ?? (await receiveCommand(call));
    const given = { ...(terminal && { terminal }), ...(directory !== undefined && { directory }) };
    // A lost link ends the programs that were started over it.
    const running = sandbox.start({ ...rest, ...given, ...(environment && { environment }), signal: call.signal });
    using _ = reportWhileRunning();
    listen(call, ProgramOrder, (order) => applyOrder(running, order));
    if (rest.hasInput || terminal) pipeline(call.readable(streams.stdin), running.stdin).catch(() => {});
    return { end: await sendOutput(running, call), denials: sandbox.takeDenials() };
  });
}

async function receiveCommand(call: ServedCall) {
  const tooMuch = () =>
    new AppError('E_COMMAND_NOT_STARTED', 'the program could not be started: the command is too long', {
      hint: plainCommandHint,
    });
  return parseBySchema(
    Command,
    parseSentJson(await collectBytes(call.readable(streams.command), { maxBytes: maxCommandText, tooMuch })),
  );
}

function applyOrder(running: RunningProgram, order: ReturnType<typeof ProgramOrder.parse>): void {
  if (order.type === 'kill') running.kill();
  else if (order.type === 'signal') running.signal(order.name as NodeJS.Signals);
  else running.resize({ rows: order.rows, columns: order.columns });
}

/** Sends the output at the pace of the reader. The exit comes after everything that the program wrote. */
export async function sendOutput(
  { stdout, stderr, exit }: Pick<RunningProgram, 'stdout' | 'stderr' | 'exit'>,
  call: ServedCall,
) {
  // A channel fails only with its call, whose caller gets the error.
  const carry = (from: typeof stdout, channel: number) => pipeline(from, call.writable(channel)).catch(() => {});
  const carried = [carry(stdout, streams.stdout), carry(stderr, streams.stderr)];
  const end = await exit.then((known: ProgramExit) => ({ exit: known }), toFailure);
  await Promise.all(carried);
  return end;
}

function toFailure(thrown: unknown) {
  const { code, message, details } = AppError.from(thrown);
  return { failure: { code, message, details } };
}
