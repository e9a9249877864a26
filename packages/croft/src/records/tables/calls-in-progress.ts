import type { CallRow, CallTable } from '../../core/accounts/ports/call-tables.ts';
import { defineTable, key, text } from '../sql/columns.ts';
import type { SqlConnection } from '../sql/database.ts';
import { insertRow } from '../sql/rows.ts';

/** Migration 4. Never edit a released migration; add another one. */
export function callTables(textType: string): string[] {
  return [
    `CREATE TABLE calls (
      call_id ${textType} NOT NULL PRIMARY KEY, server_id ${textType} NOT NULL, account_id ${textType} NOT NULL,
      actor ${textType} NOT NULL, tool ${textType} NOT NULL)`,
    'CREATE INDEX calls_by_server ON calls (server_id)',
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
