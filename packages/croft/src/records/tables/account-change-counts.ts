import type { Database, SqlConnection, Trigger } from '../sql/database.ts';

/**
 * The tables that decide what a call of an account may do. For sessions only insert and delete count: the limits of a
 * session never change.
 */
const deciding: readonly (readonly [table: string, events: readonly Trigger['event'][]])[] = [
  ['accounts', ['INSERT', 'UPDATE']],
  ...['api_keys', 'agents', 'sandboxes', 'workspaces', 'secrets'].map(
    (table) => [table, ['INSERT', 'UPDATE', 'DELETE']] as const,
  ),
  ['sessions', ['INSERT', 'DELETE']],
];

/**
 * Migration 6. Triggers count the changes, so that no writer can forget to: neither an older server nor a person with
 * `psql`.
 */
export function changeCountTables(textType: string, { trigger }: Pick<Database, 'trigger'>): string[] {
  const count = (row: 'NEW' | 'OLD') =>
    `INSERT INTO account_changes (account_id, total) VALUES (${row}.account_id, 1)
      ON CONFLICT (account_id) DO UPDATE SET total = account_changes.total + 1`;
  // The row of an account is deleted last. A deleted account has no row here and the count 0, which no existing account
  // has.
  const forget = 'DELETE FROM account_changes WHERE account_id = OLD.account_id';
  return [
    `CREATE TABLE account_changes (account_id ${textType} PRIMARY KEY, total BIGINT NOT NULL)`,
    ...deciding.flatMap(([table, events]) =>
      events.flatMap((event) => trigger({ table, event, sql: count(event === 'DELETE' ? 'OLD' : 'NEW') })),
    ),
    ...trigger({ table: 'accounts', event: 'DELETE', sql: forget }),
  ];
}

const sql = 'SELECT total FROM account_changes WHERE account_id = ?';

export async function countAccountChanges(connection: SqlConnection, accountId: string): Promise<number> {
  const [row] = (await connection.query(sql, [accountId])).rows;
  return Number(row?.total ?? 0);
}
