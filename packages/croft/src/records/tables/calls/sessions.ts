import type { SessionRow, SessionTable } from '../../../core/accounts/ports/call-tables.ts';
import { defineTable, key, optional, text, wholeNumber } from '../../sql/columns.ts';
import type { SqlConnection } from '../../sql/database.ts';
import { readListing } from '../../sql/pages.ts';
import { countRows, findRow, insertWithPlace, removeRows, updateVersion } from '../../sql/rows.ts';

export const table = defineTable<SessionRow>('sessions', {
  accountId: key('account_id'),
  agentId: key('agent_id'),
  session: key('session'),
  parent: optional('parent'),
  state: text('state'),
  usedAt: key('used_at'),
  version: wholeNumber('version'),
  serverId: optional('server_id'),
});

/** How a session is found. */
export const identity = ['accountId', 'agentId', 'session'] as const;
const isIt = 'account_id = ? AND agent_id = ? AND session = ?';

export function createSessionTable(connection: SqlConnection): SessionTable {
  return {
    get: (...of) => findRow(connection, table, isIt, ...of),
    async version(...of) {
      const [row] = (await connection.query(`SELECT version FROM sessions WHERE ${isIt}`, of)).rows;
      return row && Number(row.version);
    },
    put: (row) =>
      row.version === 1 ? insertWithPlace(connection, table, row) : updateVersion(connection, table, row, ...identity),
    count: (accountId) => countRows(connection, table, accountId),
    list: (accountId, agentId, page) =>
      readListing(connection, {
        table,
        where: ['account_id = ?', 'agent_id = ?'],
        values: [accountId, agentId],
        page,
      }),
    async remove(...of) {
      return (await removeRows(connection, table, isIt, ...of)) === 1;
    },
    removeIdle: (before) => removeRows(connection, table, 'used_at < ?', before),
  };
}
