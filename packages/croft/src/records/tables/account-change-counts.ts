import type { AccountCounts } from '../../core/accounts/ports/account-tables.ts';
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

/**
 * Migration 7. A server that stored a session last, and sees the same count of moves as then, knows that no other server
 * has stored the session since.
 */
export function sessionMoveCounts(textType: string, { trigger }: Pick<Database, 'trigger'>): string[] {
  const count = `UPDATE account_changes SET session_moves = session_moves + 1
    WHERE account_id = NEW.account_id AND NEW.server_id IS DISTINCT FROM OLD.server_id`;
  return [
    `ALTER TABLE sessions ADD COLUMN server_id ${textType}`,
    'ALTER TABLE account_changes ADD COLUMN session_moves BIGINT NOT NULL DEFAULT 0',
    ...trigger({ table: 'sessions', event: 'UPDATE', sql: count }),
  ];
}

const sql = 'SELECT total, session_moves FROM account_changes WHERE account_id = ?';

export async function countAccountChanges(connection: SqlConnection, accountId: string): Promise<AccountCounts> {
  const [row] = (await connection.query(sql, [accountId])).rows;
  const changes = Number(row?.total ?? 0);
  return { changes, sessionMoves: changes + Number(row?.session_moves ?? 0) };
}
