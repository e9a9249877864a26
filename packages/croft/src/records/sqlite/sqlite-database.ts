import { resolve } from 'node:path';
import { AppError } from '@croft/protocol';
import { makePrivateDatabase } from '../../lib/sqlite/make-private-database.ts';
import { isSqliteBusy } from '../../lib/sqlite/sqlite-error-kind.ts';
import { createSqliteWal, keepReservePragma, sqliteWalPragmas } from '../../lib/sqlite/sqlite-wal.ts';
import { type ConnectionPool, createConnectionPool } from '../sql/connection-pool.ts';
import type { Database, QueryAtOnce, SqlTransaction } from '../sql/database.ts';
import { countDoneMigrations } from '../tables/migrations.ts';
import { makePrivate, watchDatabaseFile } from './database-file.ts';
import { connectSqlite, type SqliteClient } from './sqlite-client.ts';
import { isFull, sqliteError } from './sqlite-errors.ts';

const maxReaders = 16;

interface SqliteOptions {
  readonly deadlineMs: number;
  /** Disk space that the files of the database own ahead of need, so that changes succeed on a full disk. */
  readonly reservedBytes: number;
}

/**
 * Opens a SQLite database, and creates the file if it is missing. An existing database is checked before anything in it
 * is changed.
 */
export async function openSqliteDatabase(path: string, options: SqliteOptions): Promise<Database> {
  const file = resolve(path);
  try {
    makePrivateDatabase(file);
    const writer = connectSqlite(file);
    try {
      return await prepare(file, writer, options);
    } catch (thrown) {
      writer.discard();
      throw thrown;
    }
  } catch (thrown) {
    const { code, message, details, ownHint: hint } = sqliteError(thrown);
    throw new AppError(code, `${file}: ${message}`, { details, hint, cause: thrown });
  }
}

async function prepare(file: string, writer: SqliteClient, options: SqliteOptions): Promise<Database> {
  const { deadlineMs, reservedBytes } = options;
  const log = createDurableLog(file, reservedBytes);
  const database = createDatabase(file, { writer, log, deadlineMs });
  const queryWhenFree = (sql: string) => writer.queryWhenFree(sql, deadlineMs);
  await countDoneMigrations(database, { query: queryWhenFree });
  makePrivate(file);
  const [row] = (await queryWhenFree('PRAGMA journal_mode = WAL')).rows;
  if (row?.journal_mode !== 'wal') throw noWal();
  for (const pragma of [...sqliteWalPragmas, keepReservePragma(reservedBytes)]) writer.query(pragma);
  // The worker thread reserves the blocks, and nobody waits for it.
  if (reservedBytes > 0) void log.checkpoint();
  return database;
}

interface DatabaseParts {
  readonly writer: SqliteClient;
  readonly log: DurableLog;
  readonly deadlineMs: number;
}

function createDatabase(file: string, { writer, log, deadlineMs }: DatabaseParts): Database {
  const writers = createConnectionPool({ max: 1, deadlineMs, connect: async () => writer });
  const readers = createConnectionPool({ max: maxReaders, deadlineMs, connect: async () => connectReader(file) });
  const checkFile = watchDatabaseFile(file);
  /** Answers single statements while the writer has a transaction open. Refuses to change anything. */
  let asker: SqliteClient | undefined;
  // A change drops what the other connections have read before, and the writer keeps it.
  const findAsker = (sql: string): SqliteClient => {
    if (sql.startsWith('SELECT ') && !writer.isInTransaction) return writer;
    asker ??= connectReader(file);
    return asker;
  };
  return {
    name: 'sqlite',
    isShared: false,
    deadlineMs,
    textType: 'TEXT',
    tableNames: `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`,
    trigger: ({ table, event, sql }) => [
      `CREATE TRIGGER croft_${table}_${event.toLowerCase()} AFTER ${event} ON ${table} BEGIN ${sql}; END`,
    ],
    async ask(sql, values) {
      try {
        return findAsker(sql).query(sql, values);
      } catch (thrown) {
        throw sqliteError(thrown);
      }
    },
    async beginChange() {
      checkFile();
      log.mustBeSound();
      return begin(writers, 'BEGIN IMMEDIATE', deadlineMs, log);
    },
    async oneTurn(work) {
      checkFile();
      log.mustBeSound();
      const client = await writers.take();
      try {
        const done = runInOneTurn(client, work);
        if (done) await log.sync();
        return done?.result;
      } catch (thrown) {
        throw sqliteError(thrown);
      } finally {
        writers.give(client);
      }
    },
    beginRead: () => begin(readers, 'BEGIN', deadlineMs),
    // A checkpoint lets the next change write over the blocks that the log has already.
    isTransient: isFull,
    beforeRetry: log.checkpoint,
    async [Symbol.asyncDispose]() {
      readers.end();
      asker?.discard();
      // A checkpoint opens the files too, and would make them again after they were removed.
      await log.idle();
      writer.discard();
      log.close();
    },
  };
}

/** Begins a transaction. It has its connection alone until its end, so no other statement runs in between. */
async function begin(
  pool: ConnectionPool<SqliteClient>,
  sql: string,
  deadlineMs: number,
  log?: DurableLog,
): Promise<SqlTransaction> {
  let connection: SqliteClient | undefined;
  try {
    connection = await pool.take();
    await connection.queryWhenFree(sql, deadlineMs);
    return createTransaction(connection, pool, log);
  } catch (thrown) {
    if (connection) pool.give(connection);
    throw sqliteError(thrown);
  }
}

function createTransaction(
  connection: SqliteClient,
  pool: ConnectionPool<SqliteClient>,
  log?: DurableLog,
): SqlTransaction {
  let isOver = false;

  async function query(...[sql, values]: Parameters<SqlTransaction['query']>) {
    try {
      return connection.query(sql, values);
    } catch (thrown) {
      throw sqliteError(thrown);
    }
  }

  function end(): void {
    isOver = true;
    pool.give(connection);
  }

  return {
    query,
    async commit() {
      await query('COMMIT');
      try {
        await log?.sync();
      } finally {
        end();
      }
    },
    async rollback() {
      if (isOver) return;
      // Some errors roll the transaction back by themselves.
      if (connection.isInTransaction) await query('ROLLBACK').catch(() => {});
      end();
    },
  };
}

/** Returns `undefined` if another process holds the database. */
function runInOneTurn<T>(client: SqliteClient, work: (query: QueryAtOnce) => T): { readonly result: T } | undefined {
  try {
    client.query('BEGIN IMMEDIATE');
  } catch (thrown) {
    if (isSqliteBusy(thrown)) return undefined;
    throw thrown;
  }
  try {
    const result = work(client.query);
    client.query('COMMIT');
    return { result };
  } catch (thrown) {
    // Some errors roll the transaction back by themselves.
    if (client.isInTransaction) client.query('ROLLBACK');
    throw thrown;
  }
}

type DurableLog = ReturnType<typeof createDurableLog>;

/** Refuses all changes after a failed sync: the kernel may have dropped the pages that it could not write. */
function createDurableLog(file: string, reservedBytes: number) {
  const log = createSqliteWal(file, { reservedBytes });
  let failure: AppError | undefined;
  return {
    mustBeSound(): void {
      if (failure) throw failure;
    },
    async sync(): Promise<void> {
      try {
        log.committed();
        await log.sync();
      } catch (cause) {
        const error = diskFailed(cause);
        // Only a failed `fdatasync` is final. A log that cannot be opened, because no descriptor is free, may work
        // later.
        if ((cause as NodeJS.ErrnoException).syscall === 'fdatasync') failure ??= error;
        throw error;
      }
    },
    ...{ checkpoint: log.checkpoint, idle: log.idle, close: log.close },
  };
}

function diskFailed(cause: unknown): AppError {
  const message = 'the disk of the database failed, and the last changes may be lost; check it, then start croft again';
  const hint = 'Tell the operator. The change may have been stored: check before you repeat it.';
  return new AppError('E_STORAGE_FAILED', message, { cause, hint });
}

function connectReader(file: string): SqliteClient {
  const reader = connectSqlite(file);
  reader.query('PRAGMA query_only = ON');
  return reader;
}

function noWal(): AppError {
  const message = 'the disk cannot hold a database that is read and written at once; name a file on a local disk';
  return new AppError('E_STORAGE_FAILED', message);
}
