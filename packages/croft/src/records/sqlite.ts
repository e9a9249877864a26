import { resolve } from 'node:path';
import { AppError } from '@croft/protocol';
import { makeOwnDatabase } from '../lib/own-database.ts';
import type { Database, Transaction } from './sql/database.ts';
import { readDone } from './sql/migrations.ts';
import { createPool, type Pool } from './sql/pool.ts';
import { connectSqlite, type SqliteConnection } from './sqlite-connection.ts';
import { sqliteError } from './sqlite-errors.ts';
import { closeToOthers, watchPlace } from './sqlite-file.ts';

const maxReaders = 16;

/** Makes the file if it is not there. What is there is looked at before anything about it is changed. */
export async function openSqlite(path: string, deadlineMs: number): Promise<Database> {
  const file = resolve(path);
  try {
    makeOwnDatabase(file);
    const writer = connectSqlite(file);
    try {
      return await prepare(file, writer, deadlineMs);
    } catch (thrown) {
      writer.discard();
      throw thrown;
    }
  } catch (thrown) {
    const { code, message, details } = sqliteError(thrown);
    throw new AppError(code, `${file}: ${message}`, { details, cause: thrown });
  }
}

async function prepare(file: string, writer: SqliteConnection, deadlineMs: number): Promise<Database> {
  const database = createDatabase(file, writer, deadlineMs);
  const queryWhenFree = (sql: string) => writer.queryWhenFree(sql, deadlineMs);
  await readDone(database, { query: queryWhenFree });
  closeToOthers(file);
  const [row] = (await queryWhenFree('PRAGMA journal_mode = WAL')).rows;
  if (row?.journal_mode !== 'wal') throw noWal();
  // With less than this a power cut takes what was acknowledged.
  writer.query('PRAGMA synchronous = FULL');
  writer.query(`PRAGMA journal_size_limit = ${64 * 1024 * 1024}`);
  return database;
}

function createDatabase(file: string, writer: SqliteConnection, deadlineMs: number): Database {
  const writers = createPool({ max: 1, deadlineMs, connect: async () => writer });
  const readers = createPool({ max: maxReaders, deadlineMs, connect: async () => connectReader(file) });
  const checkPlace = watchPlace(file);
  return {
    name: 'sqlite',
    deadlineMs,
    textType: 'TEXT',
    tableNames: `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`,
    async beginChange() {
      checkPlace();
      return begin(writers, 'BEGIN IMMEDIATE', deadlineMs);
    },
    beginRead: () => begin(readers, 'BEGIN', deadlineMs),
    isPassing: () => false,
    async [Symbol.asyncDispose]() {
      readers.end();
      writer.discard();
    },
  };
}

/** The connection is nobody else's until the end, so that nothing gets between the statements. */
async function begin(pool: Pool<SqliteConnection>, sql: string, deadlineMs: number): Promise<Transaction> {
  let connection: SqliteConnection | undefined;
  try {
    connection = await pool.take();
    await connection.queryWhenFree(sql, deadlineMs);
    return createTransaction(connection, pool);
  } catch (thrown) {
    if (connection) pool.give(connection);
    throw sqliteError(thrown);
  }
}

function createTransaction(connection: SqliteConnection, pool: Pool<SqliteConnection>): Transaction {
  let isOver = false;

  async function query(...[sql, values]: Parameters<Transaction['query']>) {
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
      end();
    },
    async rollback() {
      if (isOver) return;
      // Some failures undo it by themselves.
      if (connection.isInTransaction) await query('ROLLBACK').catch(() => {});
      end();
    },
  };
}

function connectReader(file: string): SqliteConnection {
  const reader = connectSqlite(file);
  reader.query('PRAGMA query_only = ON');
  return reader;
}

function noWal(): AppError {
  const message = 'the disk cannot hold a database that is read and written at once; name a file on a local disk';
  return new AppError('E_STORAGE_FAILED', message);
}
