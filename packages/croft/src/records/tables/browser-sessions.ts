import type { BrowserSessionRow, BrowserSessionTable } from '../../core/accounts/ports/account-tables.ts';
import { defineTable, key, text, word } from '../sql/columns.ts';
import type { SqlConnection } from '../sql/database.ts';
import { findRow, insertRow, removeRows } from '../sql/rows.ts';

/** Migration 9. Never edit a released migration; add another one. No foreign key: the operator has no account. */
export function browserSessionTables(textType: string): string[] {
  return [
    `CREATE TABLE browser_sessions (
      hash ${textType} PRIMARY KEY, purpose ${textType} NOT NULL, account_id ${textType} NOT NULL,
      key_id ${textType} NOT NULL, created_at ${textType} NOT NULL, used_at ${textType} NOT NULL,
      expires_at ${textType} NOT NULL)`,
    'CREATE INDEX browser_sessions_by_key ON browser_sessions (account_id, key_id, created_at)',
    'CREATE INDEX browser_sessions_by_end ON browser_sessions (expires_at)',
  ];
}

export const table = defineTable<BrowserSessionRow>('browser_sessions', {
  hash: key('hash'),
  purpose: word<BrowserSessionRow['purpose']>('purpose'),
  accountId: key('account_id'),
  keyId: key('key_id'),
  createdAt: text('created_at'),
  usedAt: text('used_at'),
  expiresAt: text('expires_at'),
});

const beyondSql =
  'SELECT hash FROM browser_sessions WHERE account_id = ? AND key_id = ? ORDER BY created_at DESC, hash LIMIT 1000 OFFSET ?';

export function createBrowserSessionTable(connection: SqlConnection): BrowserSessionTable {
  return {
    async insert(row) {
      await insertRow(connection, table, row);
    },
    byHash: (hash) => findRow(connection, table, 'hash = ?', hash),
    async use(hash, usedAt) {
      await connection.query('UPDATE browser_sessions SET used_at = ? WHERE hash = ?', [usedAt, hash]);
    },
    remove: async (hash) => (await removeRows(connection, table, 'hash = ?', hash)) === 1,
    async removeAllBut(accountId, keyId, newest) {
      const { rows } = await connection.query(beyondSql, [accountId, keyId, newest]);
      for (const { hash } of rows) await removeRows(connection, table, 'hash = ?', String(hash));
    },
    removeBefore: (expiresAt) => removeRows(connection, table, 'expires_at < ?', expiresAt),
  };
}
