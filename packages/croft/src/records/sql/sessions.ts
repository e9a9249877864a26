import type { SessionRow, SessionTable } from '../../core/accounts/records.ts';
import { defineTable, key, optional, text, whole } from './columns.ts';
import type { Connection } from './database.ts';
import { readListing } from './pages.ts';
import { countRows, findRow, insertPlaced, removeRows, updateVersion } from './rows.ts';

export const table = defineTable<SessionRow>('sessions', {
  accountId: key('account_id'),
  agentId: key('agent_id'),
  session: key('session'),
  parent: optional('parent'),
  state: text('state'),
  usedAt: key('used_at'),
  version: whole('version'),
});

const isIt = 'account_id = ? AND agent_id = ? AND session = ?';

export function createSessionTable(connection: Connection): SessionTable {
  return {
    get: (...of) => findRow(connection, table, isIt, ...of),
    put: (row) =>
      row.version === 1
        ? insertPlaced(connection, table, row)
        : updateVersion(connection, table, row, 'accountId', 'agentId', 'session'),
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
