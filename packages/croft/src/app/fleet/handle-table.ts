import { AppError } from '@croft/protocol';
import { newRandomName } from '../../lib/ids.ts';

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
