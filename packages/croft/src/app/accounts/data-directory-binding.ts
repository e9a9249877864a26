import { AppError } from '@croft/protocol';
import type { DataDirectoryRow, OrphanedFilesRow } from '../../core/accounts/ports/account-tables.ts';
import type { Records } from '../../core/accounts/ports/records.ts';
import { isInBucket } from '../../core/accounts/surface/workspace-location.ts';
import type { WorkspaceRecord } from '../workspaces/opened-workspaces.ts';

interface BindingOptions {
  /** The id of this server's data directory. */
  readonly id: string;
  readonly records: Records;
  readonly now: () => Date;
  onWarning(message: string): void;
}

/** The address at which a server listens, and its machine. */
export type ServerAddress = Pick<DataDirectoryRow, 'host' | 'address'>;

export type DataDirectoryBinding = ReturnType<typeof createDataDirectoryBinding>;

/**
 * Says which data directory has the files of a local workspace, if several servers share the records. A server opens
 * only workspaces of its own data directory: an empty directory on a second machine would look like a workspace without
 * files.
 */
export function createDataDirectoryBinding({ id, records, now, onWarning }: BindingOptions) {
  let others: ReadonlyMap<string, DataDirectoryRow> = new Map();
  let server: ServerAddress | undefined;

  async function refresh(): Promise<void> {
    await putOwn();
    const rows = await records.glance(({ dataDirectories }) => dataDirectories.all());
    others = new Map(rows.map((row) => [row.id, row]));
  }

  async function putOwn(): Promise<void> {
    if (!server) return;
    const row = { id, ...server, usedAt: now().toISOString() };
    await records.change(({ dataDirectories }) => dataDirectories.put(row));
  }

  /** Binds a record that is older than the binding. The first server that uses it has it. */
  function claim({ accountId, id: workspaceId }: WorkspaceRecord): void {
    records
      .change(({ dataDirectories }) => dataDirectories.claim(accountId, workspaceId, id))
      .catch((thrown) => onWarning(`the workspace ${workspaceId} was not bound to this data directory: ${thrown}`));
  }

  return {
    id,
    refresh,
    /** Stores the address of this server, for the errors of other servers. Call it when the server listens. */
    async announce(own: ServerAddress): Promise<void> {
      server = own;
      await putOwn().catch((thrown) =>
        onWarning(
          `the address of this server was not recorded, so that errors of other servers cannot name it: ${thrown}`,
        ),
      );
    },
    /** Throws `E_OTHER_SERVER` if the files of a local workspace are in another data directory. */
    mustBeHere(record: WorkspaceRecord): void {
      const { directory } = record;
      if (directory === id || isInBucket(record) || record.config.home !== undefined) return;
      if (directory !== undefined) throw elsewhere(record, others.get(directory));
      claim(record);
    },
    /** Removes what other servers left to this one: files of workspaces whose records they removed. */
    async removeOrphaned(remove: (row: OrphanedFilesRow) => Promise<unknown>): Promise<void> {
      for (const row of await records.glance(({ dataDirectories }) => dataDirectories.orphaned(id))) {
        await remove(row);
        await records.change(({ dataDirectories }) => dataDirectories.removeOrphaned(row));
      }
    },
  };
}

function elsewhere({ id, name, directory }: WorkspaceRecord, row: DataDirectoryRow | undefined): AppError {
  const server = row ? `the server ${row.address} on ${row.host}` : 'another server';
  return new AppError(
    'E_OTHER_SERVER',
    `the files of the workspace ${name} (${id}) are in the data directory of ${server}, and this server does not have them`,
    { details: { workspaceId: id, directory, ...(row && { host: row.host, address: row.address }) } },
  );
}
