import type { KeyRow, KeyTable } from '../../core/accounts/records.ts';
import { defineTable, key, optional, text, words } from './columns.ts';
import type { Connection } from './database.ts';
import { readListing } from './pages.ts';
import { alreadyExists, findRow, insertPlaced } from './rows.ts';

export const table = defineTable<KeyRow>('api_keys', {
  accountId: key('account_id'),
  keyId: key('key_id'),
  name: text('name'),
  scopes: words('scopes'),
  hash: key('hash'),
  createdAt: text('created_at'),
  expiresAt: optional('expires_at'),
  revokedAt: optional('revoked_at'),
});

const revokeSql = 'UPDATE api_keys SET revoked_at = ? WHERE account_id = ? AND key_id = ? AND revoked_at IS NULL';

export function createKeyTable(connection: Connection): KeyTable {
  return {
    async insert(row) {
      // Which one has the hash is not said: it may be another account's.
      if (!(await insertPlaced(connection, table, row))) throw alreadyExists('the key', row.keyId);
    },
    byHash: (hash) => findRow(connection, table, 'hash = ?', hash),
    get: (accountId, keyId) => findRow(connection, table, 'account_id = ? AND key_id = ?', accountId, keyId),
    list: (accountId, page) => readListing(connection, { table, where: ['account_id = ?'], values: [accountId], page }),
    async revoke(accountId, keyId, revokedAt) {
      return (await connection.query(revokeSql, [revokedAt, accountId, keyId])).count === 1;
    },
  };
}
