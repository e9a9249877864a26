import type { CallRow, CallTable } from '../../../core/accounts/ports/call-tables.ts';
import { defineTable, key, text } from '../../sql/columns.ts';
import type { Database, SqlConnection } from '../../sql/database.ts';
import { insertRow } from '../../sql/rows.ts';

/** Migration 4. Never edit a released migration; add another one. */
export function callTables(textType: string): string[] {
  return [
    `CREATE TABLE calls (
      call_id ${textType} NOT NULL PRIMARY KEY, server_id ${textType} NOT NULL, account_id ${textType} NOT NULL,
      actor ${textType} NOT NULL, tool ${textType} NOT NULL)`,
    'CREATE INDEX calls_by_server ON calls (server_id)',
  ];
}

/**
 * Migration 11. In SQLite a row of the first table was a row in each of three trees, and every call adds and removes one.
 * There are never more rows than calls under way, so that no index is needed.
 */
export function callsInOneTree(textType: string, { oneTurn }: Pick<Database, 'oneTurn'>): string[] {
  if (!oneTurn) return [];
  return [
    'ALTER TABLE calls RENAME TO earlier_calls',
    'DROP INDEX calls_by_server',
    `CREATE TABLE calls (
      call_id ${textType} NOT NULL PRIMARY KEY, server_id ${textType} NOT NULL, account_id ${textType} NOT NULL,
      actor ${textType} NOT NULL, tool ${textType} NOT NULL) WITHOUT ROWID`,
    'INSERT INTO calls SELECT call_id, server_id, account_id, actor, tool FROM earlier_calls',
    'DROP TABLE earlier_calls',
  ];
}

export const table = defineTable<CallRow>('calls', {
  callId: key('call_id'),
  serverId: key('server_id'),
  accountId: text('account_id'),
  actor: text('actor'),
  tool: text('tool'),
});

export const removeSql = 'DELETE FROM calls WHERE call_id = ?';

export function createCallTable(connection: SqlConnection): CallTable {
  return {
    async insert(row) {
      await insertRow(connection, table, row);
    },
    async remove(callId) {
      return (await connection.query(removeSql, [callId])).count === 1;
    },
    async of(serverId, limit) {
      const sql = `SELECT ${table.list} FROM calls WHERE server_id = ? ORDER BY call_id LIMIT ?`;
      return (await connection.query(sql, [serverId, limit])).rows.map((stored) => table.toRow(stored));
    },
  };
}
