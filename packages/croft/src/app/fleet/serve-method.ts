import { AppError } from '@croft/protocol';
import type { z } from 'zod';
import { parseBySchema } from '../../core/arguments/parse-by-schema.ts';
import { newRandomName } from '../../lib/ids.ts';
import type { CallHandler, ServedCall } from '../../link/calls/peer.ts';
import type { LinkMethod } from '../../link/methods/define-method.ts';

export type LinkHandlers = Readonly<Record<string, CallHandler>>;

/** The other side may be hostile: its parameters are parsed before use. */
export function serveMethod<Params extends z.ZodType, Answer extends z.ZodType>(
  { name, params: schema }: LinkMethod<Params, Answer>,
  handle: (params: z.output<Params>, call: ServedCall) => Promise<z.input<Answer>>,
): LinkHandlers {
  return { [name]: async (params, call) => handle(parseBySchema(schema, params), call) };
}

export type HandleTable<T> = ReturnType<typeof createHandleTable<T>>;

/** Objects that one link has open, by id. An id cannot be guessed and is invalid on every other link. */
export function createHandleTable<T>(what: string, max: number) {
  const all = new Map<string, T>();

  /** Stores a value under a known id, replacing the old value, or under a new id. */
  function put(known: string | undefined, value: T): string {
    if (known === undefined && all.size >= max)
      throw new AppError('E_TOO_MANY', `this link already has ${max} open of the kind ${what}`);
    const id = known ?? newRandomName(what);
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
