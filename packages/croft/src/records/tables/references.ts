import type { ReferenceTable } from '../../core/accounts/ports/account-tables.ts';
import { defineTable, key } from '../sql/columns.ts';
import type { SqlConnection } from '../sql/database.ts';
import { checkLimit } from '../sql/pages.ts';
import { insertRow, removeRows } from '../sql/rows.ts';

interface Reference {
  readonly accountId: string;
  readonly from: string;
  readonly to: string;
}

/** Named `resource_uses`, because `references` is a keyword of SQL. */
export const table = defineTable<Reference>('resource_uses', {
  accountId: key('account_id'),
  from: key('from_id'),
  to: key('to_id'),
});

const usersSql = 'SELECT from_id FROM resource_uses WHERE account_id = ? AND to_id = ? ORDER BY from_id LIMIT ?';

export function createReferenceTable(connection: SqlConnection): ReferenceTable {
  return {
    async replace(accountId, from, to) {
      await removeRows(connection, table, 'account_id = ? AND from_id = ?', accountId, from);
      for (const id of new Set(to)) await insertRow(connection, table, { accountId, from, to: id });
    },
    async usersOf(accountId, to, limit) {
      const { rows } = await connection.query(usersSql, [accountId, to, checkLimit(limit)]);
      return rows.map((row) => String(row.from_id));
    },
  };
}
