import type { Records, Tables } from '../../core/accounts/ports/records.ts';
import { storeCallRecords } from '../../core/accounts/ports/store-call-records.ts';
import type { RestPlatform } from './rest-platform.ts';

/** Runs `work` with a platform on one transaction of the records: all of its changes are stored, or none. */
export function inTransaction<T>(
  platform: RestPlatform,
  work: (bound: RestPlatform, tables: Tables) => Promise<T>,
): Promise<T> {
  return platform.records.change((tables) => {
    const records = within(platform.records, tables);
    return work({ ...platform, records, registry: platform.registryOn(records) }, tables);
  });
}

/** The records as one transaction sees them. */
function within({ name, isShared }: Records, tables: Tables): Records {
  return {
    name,
    isShared,
    change: (work) => work(tables),
    recordCall: async (rows) => (await storeCallRecords(tables, [rows]))[0] ?? true,
    read: (work) => work(tables),
    glance: (work) => work(tables),
    [Symbol.asyncDispose]: async () => {},
  };
}
