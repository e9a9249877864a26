import type { RequestRow, RequestTable } from '../../core/accounts/records.ts';
import { defineTable, key, text, whole } from './columns.ts';
import type { Connection } from './database.ts';
import { alreadyExists, findRow, insertRow, removeRows } from './rows.ts';

export const table = defineTable<RequestRow>('requests', {
  accountId: key('account_id'),
  key: key('request_key'),
  hash: text('hash'),
  status: whole('status'),
  body: text('body'),
  createdAt: key('created_at'),
});

export function createRequestTable(connection: Connection): RequestTable {
  return {
    get: (accountId, name) => findRow(connection, table, 'account_id = ? AND request_key = ?', accountId, name),
    async insert(row) {
      if (!(await insertRow(connection, table, row))) throw alreadyExists('the idempotency key', row.key);
    },
    removeBefore: (createdAt) => removeRows(connection, table, 'created_at < ?', createdAt),
  };
}
