import { BoundedMap } from '../../../lib/bounded-map.ts';
import type { Records } from '../ports/records.ts';

const maxCachedValues = 10_000;

interface CachedRead<T> {
  readonly accountId: string;
  /** Cache key within the account. */
  readonly name: string;
  /** The change count, if the caller has just read it. */
  readonly asOf?: number | undefined;
  read(): Promise<T>;
}

/**
 * Caches something of an account until anything of that account changes, on whichever server: the database counts the
 * changes. A value that is read while a change happens is cached under the earlier count, and therefore read again.
 */
export function createPerAccountCache<T>(records: Pick<Records, 'glance'>) {
  const cached = new BoundedMap<string, { readonly asOf: number; readonly value: T }>(maxCachedValues);
  return async ({ accountId, name, asOf, read }: CachedRead<T>): Promise<T> => {
    const key = `${accountId}/${name}`;
    const now = asOf ?? (await records.glance(({ accounts }) => accounts.changes(accountId)));
    const known = cached.get(key);
    if (known?.asOf === now) return known.value;
    const value = await read();
    cached.set(key, { asOf: now, value });
    return value;
  };
}
