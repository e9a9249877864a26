import type { RequestRow, RequestTable } from '../../../core/accounts/ports/call-tables.ts';
import { defineTable, key, text, wholeNumber } from '../../sql/columns.ts';
import type { SqlConnection } from '../../sql/database.ts';
import { alreadyExists, findRow, insertRow, removeRows } from '../../sql/rows.ts';

export const table = defineTable<RequestRow>('requests', {
  accountId: key('account_id'),
  key: key('request_key'),
  hash: text('hash'),
  status: wholeNumber('status'),
  body: text('body'),
  createdAt: key('created_at'),
});

export function createIdempotentRequestTable(connection: SqlConnection): RequestTable {
  return {
    get: (accountId, name) => findRow(connection, table, 'account_id = ? AND request_key = ?', accountId, name),
    async insert(row) {
      if (!(await insertRow(connection, table, row))) throw alreadyExists('the idempotency key', row.key);
    },
    removeBefore: (createdAt) => removeRows(connection, table, 'created_at < ?', createdAt),
  };
}
