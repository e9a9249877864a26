import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Result, Value } from './sql/database.ts';
import type { Pooled } from './sql/pool.ts';
import { isBusy } from './sqlite-errors.ts';

/** Waiting for another process stops this whole one, so that it is done for moments only, and again later. */
const blockingMs = 50;
const retryMs = 10;

export interface SqliteConnection extends Pooled {
  readonly isInTransaction: boolean;
  query(sql: string, values?: readonly Value[]): Result;
  /** As `query`, once no other process is in the way or the deadline is over. */
  queryWhenFree(sql: string, deadlineMs: number): Promise<Result>;
}

/** One connection, which belongs to one transaction at a time. */
export function connectSqlite(file: string): SqliteConnection {
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
          if (!isBusy(thrown) || performance.now() > endsAt) throw thrown;
        }
        await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
    },
    discard: () => database.close(),
  };
}
