import { AppError } from '@croft/protocol';
import type { z } from 'zod';
import { parse } from '../../core/parse.ts';
import { newName } from '../../lib/ids.ts';
import type { Method } from '../../link/methods/common.ts';
import type { Handler, Incoming } from '../../link/peer.ts';

export type Handlers = Readonly<Record<string, Handler>>;

/** The other side is hostile: what it asks is parsed before it is looked at. */
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
