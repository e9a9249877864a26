import type { RemovalRow, RemovalTable } from '../../core/accounts/records.ts';
import { defineTable, key } from './columns.ts';
import type { Connection } from './database.ts';
import { readListing } from './pages.ts';
import { findRow, insertPlaced, removeRows } from './rows.ts';

/** Migration 2. What has been run somewhere is never edited: a change is another migration. */
export function removalTables(text: string): string[] {
  return [
    `CREATE TABLE removals (
      account_id ${text} NOT NULL REFERENCES accounts (account_id), workspace_id ${text} NOT NULL,
      runner ${text} NOT NULL, created_at ${text} NOT NULL, place BIGINT NOT NULL,
      PRIMARY KEY (account_id, workspace_id, runner), UNIQUE (account_id, place))`,
    'CREATE INDEX removals_by_runner ON removals (account_id, runner, place)',
    'CREATE INDEX removals_by_time ON removals (created_at)',
  ];
}

export const table = defineTable<RemovalRow>('removals', {
  accountId: key('account_id'),
  workspaceId: key('workspace_id'),
  runner: key('runner'),
  createdAt: key('created_at'),
});

const isIt = 'account_id = ? AND workspace_id = ? AND runner = ?';

export function createRemovalTable(connection: Connection): RemovalTable {
  return {
    async insert(row) {
      await insertPlaced(connection, table, row);
    },
    get: (...of) => findRow(connection, table, isIt, ...of),
    list: (accountId, runner, page) =>
      readListing(connection, { table, where: ['account_id = ?', 'runner = ?'], values: [accountId, runner], page }),
    async remove(...of) {
      return (await removeRows(connection, table, isIt, ...of)) === 1;
    },
    removeBefore: (createdAt) => removeRows(connection, table, 'created_at < ?', createdAt),
  };
}
