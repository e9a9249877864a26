import type { ReservationRow, ReservationTable } from '../../core/accounts/ports/reservation-table.ts';
import { defineTable, key, text } from '../sql/columns.ts';
import type { SqlConnection } from '../sql/database.ts';
import { findRow, removeRows } from '../sql/rows.ts';

/** Migration 13. Never edit a released migration; add another one. */
export function reservationTables(textType: string): string[] {
  return [
    `CREATE TABLE reservations (
      account_id ${textType} NOT NULL REFERENCES accounts (account_id), sandbox_id ${textType} NOT NULL, workspace_id ${textType} NOT NULL,
      workspace ${textType} NOT NULL, set_up ${textType} NOT NULL, created_at ${textType} NOT NULL,
      PRIMARY KEY (account_id, sandbox_id, workspace_id, workspace))`,
  ];
}

export const table = defineTable<ReservationRow>('reservations', {
  accountId: key('account_id'),
  sandboxId: key('sandbox_id'),
  workspaceId: key('workspace_id'),
  workspace: key('workspace'),
  setUp: text('set_up'),
  createdAt: text('created_at'),
});

const putSql = `INSERT INTO reservations (${table.list}) VALUES (${table.marks})
  ON CONFLICT (account_id, sandbox_id, workspace_id, workspace)
  DO UPDATE SET set_up = excluded.set_up, created_at = excluded.created_at`;
const byKey = 'account_id = ? AND sandbox_id = ? AND workspace_id = ? AND workspace = ?';

export function createReservationTable(connection: SqlConnection): ReservationTable {
  return {
    get: ({ accountId, sandboxId, workspaceId, workspace }) =>
      findRow(connection, table, byKey, accountId, sandboxId, workspaceId, workspace),
    async put(row) {
      await connection.query(putSql, table.toValues(row));
    },
    remove: async ({ accountId, sandboxId, workspaceId, workspace }) =>
      (await removeRows(connection, table, byKey, accountId, sandboxId, workspaceId, workspace)) === 1,
    removeOf: (accountId, of) =>
      'sandboxId' in of
        ? removeRows(connection, table, 'account_id = ? AND sandbox_id = ?', accountId, of.sandboxId)
        : removeRows(connection, table, 'account_id = ? AND workspace_id = ?', accountId, of.workspaceId),
  };
}
