import { AppError } from '@croft/protocol';
import type { z } from 'zod';
import { parse } from '../core/parse.ts';
import type { OfferedWorkspace } from '../core/runners/offer.ts';
import { newName } from '../lib/ids.ts';
import { sendJson } from '../link/methods/body.ts';
import type { Method } from '../link/methods/common.ts';
import type { Handler, Incoming } from '../link/peer.ts';

export type Handlers = Readonly<Record<string, Handler>>;

/** The server is hostile: what it asks is parsed before it is looked at. */
export function serving<Params extends z.ZodType, Answer extends z.ZodType>(
  { name, params: schema }: Method<Params, Answer>,
  handle: (params: z.output<Params>, call: Incoming) => Promise<z.input<Answer>>,
): Handlers {
  return { [name]: async (params, call) => handle(parse(schema, params), call) };
}

export type Owned<T> = ReturnType<typeof createOwned<T>>;

/** What one link has open. Nobody guesses an id, and on another link it names nothing. */
export function createOwned<T>(what: string, max: number) {
  const all = new Map<string, T>();

  /** In place of what had this id, if there was something. */
  function put(known: string | undefined, value: T): string {
    if (known === undefined && all.size >= max)
      throw new AppError('E_TOO_MANY', `there are ${max} open of this kind already: ${what}`);
    const id = known ?? newName(what);
    all.set(id, value);
    return id;
  }

  return {
    put,
    add: (value: T): string => put(undefined, value),
    get(id: string): T {
      const found = all.get(id);
      if (found !== undefined) return found;
      throw new AppError('E_NOT_FOUND', `there is no such ${what} on this link`);
    },
    delete: (id: string) => all.delete(id),
  };
}

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
