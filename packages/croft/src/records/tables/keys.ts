import type { KeyRow, KeyTable } from '../../core/accounts/ports/account-tables.ts';
import { defineTable, key, optional, optionalWords, text, words } from '../sql/columns.ts';
import type { SqlConnection } from '../sql/database.ts';
import { readListing } from '../sql/pages.ts';
import { alreadyExists, findRow, insertWithPlace } from '../sql/rows.ts';

export const table = defineTable<KeyRow>('api_keys', {
  accountId: key('account_id'),
  keyId: key('key_id'),
  name: text('name'),
  scopes: words('scopes'),
  agents: optionalWords('agents'),
  hash: key('hash'),
  createdAt: text('created_at'),
  expiresAt: optional('expires_at'),
  revokedAt: optional('revoked_at'),
});

/** Migration 3. */
export function keyAgents(text: string): string[] {
  return [`ALTER TABLE api_keys ADD COLUMN agents ${text}`];
}

const revokeSql = 'UPDATE api_keys SET revoked_at = ? WHERE account_id = ? AND key_id = ? AND revoked_at IS NULL';

export function createKeyTable(connection: SqlConnection): KeyTable {
  return {
    async insert(row) {
      // The error does not say which key has the same hash: it may be another account's.
      if (!(await insertWithPlace(connection, table, row))) throw alreadyExists('the key', row.keyId);
    },
    byHash: (hash) => findRow(connection, table, 'hash = ?', hash),
    get: (accountId, keyId) => findRow(connection, table, 'account_id = ? AND key_id = ?', accountId, keyId),
    list: (accountId, page) => readListing(connection, { table, where: ['account_id = ?'], values: [accountId], page }),
    async revoke(accountId, keyId, revokedAt) {
      return (await connection.query(revokeSql, [revokedAt, accountId, keyId])).count === 1;
    },
  };
}
