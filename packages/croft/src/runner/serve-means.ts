import { AppError } from '@croft/protocol';
import type { z } from 'zod';
import type { Owned } from '../app/runners/serving.ts';
import { parse } from '../core/parse.ts';
import type { OfferedWorkspace } from '../core/runners/offer.ts';
import { sendJson } from '../link/methods/body.ts';
import type { Incoming } from '../link/peer.ts';

export { createOwned, type Handlers, type Owned, serving } from '../app/runners/serving.ts';

export type Places = Owned<OfferedWorkspace>;

/** A runner that offers a workspace for reading means it, whatever the server makes of it. */
export function mustBeWritable(workspace: OfferedWorkspace): OfferedWorkspace {
  if (workspace.access === 'read-write') return workspace;
  throw new AppError('E_READ_ONLY', 'workspace is read-only: its runner offers it for reading alone');
}

/** What the server may not tell fails the call. */
export function listen<Schema extends z.ZodType>(
  call: Incoming,
  schema: Schema,
  onTold: (message: z.output<Schema>) => void,
): void {
  call.onTold((message) => onTold(parse(schema, message)));
}

/** Never resolves. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => {});
  const leave = () => aborted.reject(signal.reason);
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });
  return aborted.promise;
}

/** As JSON on a channel: a call itself takes no more than a message. */
export async function answerJson(call: Incoming, channel: number, value: unknown): Promise<null> {
  await sendJson(call.writable(channel), value, call);
  return null;
}

export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch (cause) {
    throw new AppError('E_INVALID_INPUT', 'what was sent is no JSON', { cause });
  }
}
