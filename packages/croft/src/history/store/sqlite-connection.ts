import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { isSqliteBusy } from '../../lib/sqlite/sqlite-error-kind.ts';
import { createSqliteWal } from '../../lib/sqlite/sqlite-wal.ts';
import { historyError, syncError } from './history-store-errors.ts';

/**
 * SQLite blocks this thread while it waits for another process, so it waits only briefly, and `whenFree` retries later.
 */
const blockingMs = 20;
const retryMs = 5;
const giveUpMs = 30_000;

type Row = Record<string, SQLInputValue>;

export interface HistoryConnection {
  run(sql: string, ...values: SQLInputValue[]): { changes: number; id: number };
  one(sql: string, ...values: SQLInputValue[]): Row | undefined;
  all(sql: string, ...values: SQLInputValue[]): Row[];
  execute(sql: string): void;
  /**
   * Waits until no other process writes. Applies all of `work` or nothing. `synced`: the transaction, and everything
   * before it, is on the disk when this returns; otherwise a power cut may undo it, but no crash of a program.
   */
  transact<T>(work: () => Promise<T>, options: { readonly synced: boolean }): Promise<T>;
  close(): void;
}

export function connectHistory(file: string): HistoryConnection {
  const database = new DatabaseSync(file, { timeout: blockingMs });
  const statements = new Map<string, StatementSync>();
  const log = createSqliteWal(file);

  function prepare(sql: string): StatementSync {
    const known = statements.get(sql) ?? database.prepare(sql);
    statements.set(sql, known);
    return known;
  }

  async function transact<T>(work: () => Promise<T>, { synced }: { readonly synced: boolean }): Promise<T> {
    await retryWhileBusy(() => database.exec('BEGIN IMMEDIATE'));
    try {
      const result = await work();
      database.exec('COMMIT');
      log.committed();
      if (synced) await sync();
      return result;
    } catch (thrown) {
      // SQLite itself has already rolled back if the disk was full.
      if (database.isOpen && database.isTransaction) database.exec('ROLLBACK');
      throw historyError(thrown);
    }
  }

  async function sync(): Promise<void> {
    await log.sync().catch((thrown) => {
      throw syncError(thrown);
    });
  }

  return {
    run: (sql, ...values) => {
      const { changes, lastInsertRowid } = prepare(sql).run(...values);
      return { changes: Number(changes), id: Number(lastInsertRowid) };
    },
    one: (sql, ...values) => prepare(sql).get(...values),
    all: (sql, ...values) => prepare(sql).all(...values),
    execute: (sql) => database.exec(sql),
    transact,
    close() {
      log.close();
      database.close();
    },
  };
}

export async function retryWhileBusy<T>(work: () => T): Promise<T> {
  const endsAt = performance.now() + giveUpMs;
  for (;;) {
    try {
      return work();
    } catch (thrown) {
      if (!isSqliteBusy(thrown) || performance.now() > endsAt) throw historyError(thrown);
    }
    await new Promise((resolve) => setTimeout(resolve, retryMs));
  }
}
