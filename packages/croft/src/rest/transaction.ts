import type { Records, Tables } from '../core/accounts/records.ts';
import type { Platform } from './platform.ts';

/** Everything `work` does to the records through this platform is one change of them, or none. */
export function inTransaction<T>(
  platform: Platform,
  work: (bound: Platform, tables: Tables) => Promise<T>,
): Promise<T> {
  return platform.records.change((tables) => {
    const records = within(platform.records, tables);
    return work({ ...platform, records, registry: platform.registryOn(records) }, tables);
  });
}

/** The records as one transaction sees them. */
function within({ name }: Records, tables: Tables): Records {
  return {
    name,
    change: (work) => work(tables),
    read: (work) => work(tables),
    [Symbol.asyncDispose]: async () => {},
  };
}
