import { AppError } from '@croft/protocol';
import { newRandomName } from '../../lib/ids.ts';

export type HandleTable<T> = ReturnType<typeof createHandleTable<T>>;

/** Objects that one link has open, by id. An id cannot be guessed and is invalid on every other link. */
export function createHandleTable<T>(what: string, max: number) {
  const all = new Map<string, T>();

  /** Stores a value under a known id, replacing the old value, or under a new id. */
  function put(known: string | undefined, value: T): string {
    if (known === undefined && all.size >= max)
      throw new AppError('E_TOO_MANY', `the link to this runner has ${max} handles of the kind ${what} open already`);
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
      throw new AppError('E_NOT_FOUND', `the link to this runner has no ${what} of that id`);
    },
    delete: (id: string) => all.delete(id),
  };
}
