import type { ServerRow, ServerTable } from '../../../core/accounts/ports/cluster-tables.ts';
import { defineTable, key, text, wholeNumber } from '../../sql/columns.ts';
import type { SqlConnection } from '../../sql/database.ts';
import { removeRows } from '../../sql/rows.ts';

const table = defineTable<ServerRow>('servers', {
  id: key('server_id'),
  address: text('address'),
  host: text('host'),
  directory: text('directory_id'),
  protocol: wholeNumber('protocol'),
  epoch: wholeNumber('epoch'),
  beatAt: text('beat_at'),
});

const putSql = `INSERT INTO servers (${table.list}) VALUES (${table.marks})
  ON CONFLICT (server_id) DO UPDATE SET address = excluded.address, beat_at = excluded.beat_at`;

export function createServerTable(connection: SqlConnection): ServerTable {
  return {
    async put(row) {
      await connection.query(putSql, table.toValues(row));
    },
    async beat(id, beatAt) {
      return (await connection.query('UPDATE servers SET beat_at = ? WHERE server_id = ?', [beatAt, id])).count === 1;
    },
    async all() {
      const { rows } = await connection.query(`SELECT ${table.list} FROM servers ORDER BY server_id`);
      return rows.map((stored) => table.toRow(stored));
    },
    async remove(id) {
      for (const name of ['leases', 'runner_links', 'sandbox_counts', 'servers'])
        await removeRows(connection, { name }, 'server_id = ?', id);
    },
  };
}
