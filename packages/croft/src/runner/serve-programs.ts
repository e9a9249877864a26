import { pipeline } from 'node:stream/promises';
import { AppError } from '@croft/protocol';
import type { Exit, Running } from '../core/commands/sandbox.ts';
import { parse } from '../core/parse.ts';
import { collect } from '../link/methods/body.ts';
import { Command, maxCommandBytes, ProgramOrder, startProgram, streams } from '../link/methods/sandbox.ts';
import type { Incoming } from '../link/peer.ts';
import { type Handlers, listen, type Owned, parseJson, serving } from './serve-means.ts';
import type { HeldSandbox } from './serve-sandboxes.ts';

/** JSON writes a byte in up to six of its own. */
const maxCommandText = 6 * maxCommandBytes;

/** Programs in the sandboxes of a link. */
export function servePrograms(sandboxes: Owned<HeldSandbox>): Handlers {
  return serving(startProgram, async ({ sandbox: id, command }, call) => {
    const { sandbox, working } = sandboxes.get(id);
    const { terminal, directory, environment, ...rest } = command ?? (await receiveCommand(call));
    const given = { ...(terminal && { terminal }), ...(directory !== undefined && { directory }) };
    // A link that is lost ends what was started over it.
    const running = sandbox.start({ ...rest, ...given, ...(environment && { environment }), signal: call.signal });
    using _ = working();
    listen(call, ProgramOrder, (order) => obey(running, order));
    if (rest.hasInput || terminal) pipeline(call.readable(streams.stdin), running.stdin).catch(() => {});
    return { end: await carryOutput(running, call), denials: sandbox.takeDenials() };
  });
}

async function receiveCommand(call: Incoming) {
  const tooMuch = () => new AppError('E_COMMAND_NOT_STARTED', 'the program could not be started: it is too long');
  return parse(
    Command,
    parseJson(await collect(call.readable(streams.command), { maxBytes: maxCommandText, tooMuch })),
  );
}

function obey(running: Running, order: ReturnType<typeof ProgramOrder.parse>): void {
  if (order.type === 'kill') running.kill();
  else if (order.type === 'signal') running.signal(order.name as NodeJS.Signals);
  else running.resize({ rows: order.rows, columns: order.columns });
}

/** At the pace of the reader. How it ended comes after all that it wrote. */
export async function carryOutput(
  { stdout, stderr, exit }: Pick<Running, 'stdout' | 'stderr' | 'exit'>,
  call: Incoming,
) {
  // A channel fails with its call, and whoever made that knows.
  const carry = (from: typeof stdout, channel: number) => pipeline(from, call.writable(channel)).catch(() => {});
  const carried = [carry(stdout, streams.stdout), carry(stderr, streams.stderr)];
  const end = await exit.then((known: Exit) => ({ exit: known }), toFailure);
  await Promise.all(carried);
  return end;
}

function toFailure(thrown: unknown) {
  const { code, message, details } = AppError.from(thrown);
  return { failure: { code, message, details } };
}
