import type { LeaseRow, LeaseTable } from '../../../core/accounts/ports/cluster-tables.ts';
import { defineTable, key, text, wholeNumber } from '../../sql/columns.ts';
import type { SqlConnection } from '../../sql/database.ts';
import { findRow, removeRows } from '../../sql/rows.ts';

const table = defineTable<LeaseRow>('leases', {
  key: key('lease_key'),
  serverId: text('server_id'),
  epoch: wholeNumber('epoch'),
});

const putSql = `INSERT INTO leases (${table.list}) VALUES (${table.marks})
  ON CONFLICT (lease_key) DO UPDATE SET server_id = excluded.server_id, epoch = excluded.epoch`;

export function createLeaseTable(connection: SqlConnection): LeaseTable {
  return {
    get: (wanted) => findRow(connection, table, 'lease_key = ?', wanted),
    async put(row) {
      await connection.query(putSql, table.toValues(row));
    },
    async of(serverId) {
      const { rows } = await connection.query(`SELECT ${table.list} FROM leases WHERE server_id = ?`, [serverId]);
      return rows.map((stored) => table.toRow(stored));
    },
    async remove({ key: wanted, serverId, epoch }) {
      const where = 'lease_key = ? AND server_id = ? AND epoch = ?';
      return (await removeRows(connection, table, where, wanted, serverId, epoch)) === 1;
    },
  };
}
