import type { SandboxCountRow, SandboxCountTable } from '../../../core/accounts/ports/cluster-tables.ts';
import { defineTable, key, wholeNumber } from '../../sql/columns.ts';
import type { SqlConnection } from '../../sql/database.ts';
import { removeRows } from '../../sql/rows.ts';

const table = defineTable<SandboxCountRow>('sandbox_counts', {
  accountId: key('account_id'),
  serverId: key('server_id'),
  open: wholeNumber('open_count'),
});

const putSql = `INSERT INTO sandbox_counts (${table.list}) VALUES (${table.marks})
  ON CONFLICT (account_id, server_id) DO UPDATE SET open_count = excluded.open_count`;

export function createSandboxCountTable(connection: SqlConnection): SandboxCountTable {
  return {
    async of(accountId) {
      const { rows } = await connection.query(`SELECT ${table.list} FROM sandbox_counts WHERE account_id = ?`, [
        accountId,
      ]);
      return rows.map((stored) => table.toRow(stored));
    },
    async put(row) {
      if (row.open === 0) {
        await removeRows(connection, table, 'account_id = ? AND server_id = ?', row.accountId, row.serverId);
        return;
      }
      await connection.query(putSql, table.toValues(row));
    },
  };
}
