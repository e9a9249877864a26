import type { DataDirectoryRow } from '../../core/accounts/ports/account-tables.ts';
import type { Records } from '../../core/accounts/ports/records.ts';
import { UsageError } from '../../lib/usage-error.ts';
import { readDataDirectoryId } from '../../storages/index.ts';

/**
 * A server that has not said for this long that it uses its data directory counts as gone. A running server says so every
 * 30 seconds.
 */
const aliveMs = 90_000;

/** The data directories of all servers of a database, for the operator. */
export function createDataDirectories(data: string, records: Records) {
  const now = () => (records.clock?.now() ?? new Date()).getTime();
  const list = (): Promise<readonly DataDirectoryRow[]> => records.read(({ dataDirectories }) => dataDirectories.all());

  return {
    list,
    /** Binds the workspaces of a directory that is gone to the data directory of this machine. Returns how many. */
    async adopt(from: string): Promise<number> {
      const row = (await list()).find(({ id }) => id === from);
      if (!row)
        throw new UsageError(
          `no server of this database has the data directory ${from}; see: croft server directories list`,
        );
      const own = readDataDirectoryId(data);
      if (from === own) throw new UsageError(`${from} is the data directory ${data} itself`);
      if (now() - Date.parse(row.usedAt) < aliveMs)
        throw new UsageError(
          `the server ${row.address} on ${row.host} still uses ${from}, or did a minute ago: stop it first, and wait`,
        );
      return records.change(({ dataDirectories }) => dataDirectories.adopt(from, own));
    },
  };
}
