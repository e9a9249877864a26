import { closeSync, fdatasync, openSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { historyError, isBusy, syncError } from './sqlite-errors.ts';

/** Waiting for another process stops this whole one, so that it is done for moments only, and again later. */
const blockingMs = 20;
const retryMs = 5;
const giveUpMs = 30_000;
const syncData = promisify(fdatasync);

type Row = Record<string, SQLInputValue>;

export interface SqliteConnection {
  run(sql: string, ...values: SQLInputValue[]): { changes: number; id: number };
  one(sql: string, ...values: SQLInputValue[]): Row | undefined;
  all(sql: string, ...values: SQLInputValue[]): Row[];
  execute(sql: string): void;
  /**
   * Waits until no other process writes. All of `work` or nothing of it. `synced`: it is on the disk when this returns,
   * and so is everything before it; otherwise a power cut may take it back, but no crash of a program.
   */
  transact<T>(work: () => Promise<T>, options: { readonly synced: boolean }): Promise<T>;
  close(): void;
}

export function connect(file: string): SqliteConnection {
  const database = new DatabaseSync(file, { timeout: blockingMs });
  const statements = new Map<string, StatementSync>();
  let log: number | undefined;

  function prepare(sql: string): StatementSync {
    const known = statements.get(sql) ?? database.prepare(sql);
    statements.set(sql, known);
    return known;
  }

  async function transact<T>(work: () => Promise<T>, { synced }: { readonly synced: boolean }): Promise<T> {
    await whenFree(() => database.exec('BEGIN IMMEDIATE'));
    try {
      const result = await work();
      database.exec('COMMIT');
      if (synced) await sync();
      return result;
    } catch (thrown) {
      // A full disk has rolled back already.
      if (database.isOpen && database.isTransaction) database.exec('ROLLBACK');
      throw historyError(thrown);
    }
  }

  /** While others have their turn, and without the times of the file, which nobody needs to be there after a power cut. */
  async function sync(): Promise<void> {
    try {
      log ??= openSync(`${file}-wal`, 'r');
      await syncData(log);
    } catch (thrown) {
      throw syncError(thrown);
    }
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
      if (log !== undefined) closeSync(log);
      database.close();
    },
  };
}

export async function whenFree<T>(work: () => T): Promise<T> {
  const endsAt = performance.now() + giveUpMs;
  for (;;) {
    try {
      return work();
    } catch (thrown) {
      if (!isBusy(thrown) || performance.now() > endsAt) throw historyError(thrown);
    }
    await new Promise((resolve) => setTimeout(resolve, retryMs));
  }
}
