import type { RemovalRow, RemovalTable } from '../../core/accounts/ports/account-tables.ts';
import { defineTable, key } from '../sql/columns.ts';
import type { SqlConnection } from '../sql/database.ts';
import { readListing } from '../sql/pages.ts';
import { findRow, insertWithPlace, removeRows } from '../sql/rows.ts';

/** Migration 2. Never edit a released migration; add another one. */
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

export function createRemovalTable(connection: SqlConnection): RemovalTable {
  return {
    async insert(row) {
      await insertWithPlace(connection, table, row);
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
