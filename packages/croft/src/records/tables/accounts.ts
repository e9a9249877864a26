import { AppError } from '@croft/protocol';
import type { AccountRow, AccountTable } from '../../core/accounts/ports/account-tables.ts';
import { defineTable, key, optional, text, wholeNumber, word } from '../sql/columns.ts';
import type { SqlConnection } from '../sql/database.ts';
import { readListing } from '../sql/pages.ts';
import { alreadyExists, findRow, removeRows, updateVersion } from '../sql/rows.ts';
import { countAccountChanges } from './account-change-counts.ts';

const table = defineTable<AccountRow>('accounts', {
  accountId: key('account_id'),
  username: text('username'),
  description: optional('description'),
  status: word('status'),
  createdAt: text('created_at'),
  updatedAt: text('updated_at'),
  version: wholeNumber('version'),
});

const insertSql = `INSERT INTO accounts (${table.list}, place)
  VALUES (${table.marks}, (SELECT COALESCE(MAX(place), 0) + 1 FROM accounts)) ON CONFLICT DO NOTHING`;

export function createAccountTable(connection: SqlConnection): AccountTable {
  return {
    async insert(row) {
      const { count } = await connection.query(insertSql, table.toValues(row));
      if (count === 0) throw alreadyExists('the account', row.accountId);
    },
    get: (accountId) => findRow(connection, table, 'account_id = ?', accountId),
    changes: async (accountId) => (await countAccountChanges(connection, accountId)).changes,
    counts: (accountId) => countAccountChanges(connection, accountId),
    list: (page) => readListing(connection, { table, page }),
    update: (row) => updateVersion(connection, table, row, 'accountId'),
    async remove(accountId) {
      try {
        return (await removeRows(connection, table, 'account_id = ?', accountId)) === 1;
      } catch (thrown) {
        if (AppError.from(thrown).code !== 'E_NOT_FOUND') throw thrown;
        const message = `the account ${accountId} still has records: remove those first, with removeAllOf`;
        throw new AppError('E_INVALID_INPUT', message, { cause: thrown });
      }
    },
  };
}
