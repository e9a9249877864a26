import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { isSqliteBusy } from '../../lib/sqlite/sqlite-error-kind.ts';
import type { PooledConnection } from '../sql/connection-pool.ts';
import type { Result, Value } from '../sql/database.ts';

/** SQLite blocks this whole process while it waits for another one, so it waits only for moments and retries later. */
const blockingMs = 50;
const retryMs = 10;

export interface SqliteClient extends PooledConnection {
  readonly isInTransaction: boolean;
  query(sql: string, values?: readonly Value[]): Result;
  /** As `query`, but retries while another process holds the database, until the deadline. */
  queryWhenFree(sql: string, deadlineMs: number): Promise<Result>;
}

/** Opens a connection that one transaction uses at a time. */
export function connectSqlite(file: string): SqliteClient {
  const database = new DatabaseSync(file, { timeout: blockingMs, enableForeignKeyConstraints: true });
  const statements = new Map<string, { statement: StatementSync; hasRows: boolean }>();

  function prepare(sql: string) {
    const known = statements.get(sql);
    if (known) return known;
    const statement = database.prepare(sql);
    const made = { statement, hasRows: statement.columns().length > 0 };
    statements.set(sql, made);
    return made;
  }

  function query(sql: string, values: readonly Value[] = []): Result {
    const { statement, hasRows } = prepare(sql);
    if (!hasRows) return { rows: [], count: Number(statement.run(...values).changes) };
    const rows = statement.all(...values);
    return { rows, count: rows.length };
  }

  return {
    query,
    get isUsable() {
      return database.isOpen;
    },
    get isInTransaction() {
      return database.isTransaction;
    },
    async queryWhenFree(sql, deadlineMs) {
      const endsAt = performance.now() + deadlineMs;
      for (;;) {
        try {
          return query(sql);
        } catch (thrown) {
          if (!isSqliteBusy(thrown) || performance.now() > endsAt) throw thrown;
        }
        await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
    },
    discard: () => database.close(),
  };
}
