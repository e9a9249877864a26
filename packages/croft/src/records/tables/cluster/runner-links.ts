import type { RunnerLinkRow, RunnerLinkTable } from '../../../core/accounts/ports/cluster-tables.ts';
import { defineTable, key, text, wholeNumber } from '../../sql/columns.ts';
import type { SqlConnection } from '../../sql/database.ts';
import { findRow, removeRows } from '../../sql/rows.ts';

const table = defineTable<RunnerLinkRow>('runner_links', {
  accountId: key('account_id'),
  runner: key('runner'),
  serverId: text('server_id'),
  epoch: wholeNumber('epoch'),
  view: text('view_json'),
});

const putSql = `INSERT INTO runner_links (${table.list}) VALUES (${table.marks}) ON CONFLICT (account_id, runner)
  DO UPDATE SET server_id = excluded.server_id, epoch = excluded.epoch, view_json = excluded.view_json`;
const exactly = 'account_id = ? AND runner = ? AND server_id = ? AND epoch = ?';

export function createRunnerLinkTable(connection: SqlConnection): RunnerLinkTable {
  async function list(where: string, value: string): Promise<RunnerLinkRow[]> {
    const { rows } = await connection.query(`SELECT ${table.list} FROM runner_links WHERE ${where}`, [value]);
    return rows.map((stored) => table.toRow(stored));
  }

  return {
    get: (accountId, runner) => findRow(connection, table, 'account_id = ? AND runner = ?', accountId, runner),
    async put(row) {
      await connection.query(putSql, table.toValues(row));
    },
    ofServer: (serverId) => list('server_id = ?', serverId),
    ofAccount: (accountId) => list('account_id = ?', accountId),
    async update({ accountId, runner, serverId, epoch, view }) {
      const sql = `UPDATE runner_links SET view_json = ? WHERE ${exactly}`;
      return (await connection.query(sql, [view, accountId, runner, serverId, epoch])).count === 1;
    },
    async remove({ accountId, runner, serverId, epoch }) {
      return (await removeRows(connection, table, exactly, accountId, runner, serverId, epoch)) === 1;
    },
  };
}
