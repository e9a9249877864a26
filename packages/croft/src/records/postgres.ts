import { AppError } from '@croft/protocol';
import { connectPostgres } from './postgres-client.ts';
import { isPassing } from './postgres-errors.ts';
import { beginPostgres } from './postgres-transaction.ts';
import type { Database } from './sql/database.ts';
import { createPool } from './sql/pool.ts';

const maxReaders = 8;
/** Of this database, between all servers that use it. Any number will do, if it is always the same. */
const changeLock = 0x63726f6674;

/** Holds one lock during every change, so that there is nothing to retry and the audit chain cannot fork. */
export async function openPostgres(url: string, deadlineMs: number): Promise<Database> {
  const database = createDatabase(url, deadlineMs);
  try {
    await checkEncoding(database);
    return database;
  } catch (thrown) {
    await database[Symbol.asyncDispose]();
    throw thrown;
  }
}

function createDatabase(url: string, deadlineMs: number): Database {
  const connect = () => connectPostgres(url, deadlineMs);
  const writers = createPool({ max: 1, deadlineMs, connect });
  const readers = createPool({ max: maxReaders, deadlineMs, connect });
  const limits = setLimits(deadlineMs);
  // Each statement sees what was kept before it, and with that all that was before the lock was given.
  const change = `BEGIN ISOLATION LEVEL READ COMMITTED; ${limits}; ${durably}; SELECT pg_advisory_xact_lock(${changeLock})`;
  const read = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${limits}`;
  return {
    name: 'postgres',
    deadlineMs,
    textType: 'TEXT COLLATE "C"',
    tableNames: 'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename',
    beginChange: () => beginPostgres(writers, change, deadlineMs),
    beginRead: () => beginPostgres(readers, read, deadlineMs),
    isPassing,
    async [Symbol.asyncDispose]() {
      writers.end();
      readers.end();
    },
  };
}

/** For this transaction only, because behind a pooler the next one may be somebody else's. */
function setLimits(deadlineMs: number): string {
  return [
    ['lock_timeout', deadlineMs],
    // Later, so that a lock that was waited for in vain is told as such.
    ['statement_timeout', deadlineMs + 500],
    ['idle_in_transaction_session_timeout', deadlineMs + 500],
  ]
    .map(([name, ms]) => `SET LOCAL ${name} = ${ms}`)
    .join('; ');
}

/** Whatever else the operator chose, a change is on the disk when it is acknowledged. */
const durably = `SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit')
  WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true)`;

async function checkEncoding(database: Database): Promise<void> {
  const transaction = await database.beginRead();
  try {
    const [row] = (await transaction.query(`SELECT current_setting('server_encoding') AS encoding`)).rows;
    if (row?.encoding === 'UTF8') return;
    const message = `the database keeps texts as ${row?.encoding}, which has no room for most of them; make one with UTF8`;
    throw new AppError('E_STORAGE_FAILED', message);
  } finally {
    await transaction.rollback();
  }
}
