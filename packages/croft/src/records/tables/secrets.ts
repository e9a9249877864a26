import type { SecretRow, SecretTable } from '../../core/accounts/ports/account-tables.ts';
import { defineTable, key, text } from '../sql/columns.ts';
import type { SqlConnection } from '../sql/database.ts';
import { readAll } from '../sql/pages.ts';
import { findRow, removeRows } from '../sql/rows.ts';

export const table = defineTable<SecretRow>('secrets', {
  accountId: key('account_id'),
  name: key('name'),
  value: text('value'),
  updatedAt: text('updated_at'),
});

const putSql = `INSERT INTO secrets (${table.list}) VALUES (${table.marks})
  ON CONFLICT (account_id, name) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`;
const listSql = `SELECT ${table.list} FROM secrets WHERE account_id = ? ORDER BY name`;

export function createSecretTable(connection: SqlConnection): SecretTable {
  return {
    async put(row) {
      await connection.query(putSql, table.toValues(row));
    },
    get: (accountId, name) => findRow(connection, table, 'account_id = ? AND name = ?', accountId, name),
    async list(accountId) {
      return (await connection.query(listSql, [accountId])).rows.map(table.toRow);
    },
    async remove(accountId, name) {
      return (await removeRows(connection, table, 'account_id = ? AND name = ?', accountId, name)) === 1;
    },
    all: (page) => readAll(connection, table, 'name', page),
  };
}
