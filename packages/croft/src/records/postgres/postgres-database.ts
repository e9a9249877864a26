import { AppError } from '@croft/protocol';
import { createConnectionPool } from '../sql/connection-pool.ts';
import type { Database } from '../sql/database.ts';
import { connectPostgres } from './postgres-client.ts';
import { forStart, isTransient } from './postgres-errors.ts';
import { createPostgresNotices } from './postgres-notices.ts';
import { askPostgres, beginPostgres, changeInTwoSteps, changePostgres } from './postgres-transaction.ts';

const maxReaders = 8;
/** Id of the advisory lock that all servers on this database share. The value is arbitrary but must never change. */
const changeLockId = 0x63726f6674;
const lockSql = `pg_advisory_xact_lock(${changeLockId})`;

/**
 * Opens a PostgreSQL database. Every change holds one lock, so that nothing has to be retried and the audit chain
 * cannot fork.
 */
export async function openPostgresDatabase(url: string, deadlineMs: number): Promise<Database> {
  const database = createDatabase(url, deadlineMs);
  try {
    await checkEncoding(database);
    return database;
  } catch (thrown) {
    await database[Symbol.asyncDispose]();
    throw forStart(thrown);
  }
}

function createDatabase(url: string, deadlineMs: number): Database {
  const connect = () => connectPostgres(url, deadlineMs);
  const writers = createConnectionPool({ max: 1, deadlineMs, connect });
  const readers = createConnectionPool({ max: maxReaders, deadlineMs, connect });
  const limits = setLimits(deadlineMs);
  // READ COMMITTED: each statement sees everything that was committed before it, so also everything from before the
  // lock was granted.
  const change = `BEGIN ISOLATION LEVEL READ COMMITTED; ${limits}; ${durablySql}; SELECT ${lockSql}`;
  const read = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${limits}`;
  const ask: Database['ask'] = (sql, values) => askPostgres(readers, deadlineMs, sql, values);
  const notices = createPostgresNotices(url, ask);
  return {
    name: 'postgres',
    isShared: true,
    deadlineMs,
    textType: 'TEXT COLLATE "C"',
    tableNames: 'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename',
    timeSql: 'SELECT extract(epoch FROM clock_timestamp()) * 1000 AS ms',
    trigger: ({ table, event, sql }) => {
      const name = `croft_${table}_${event.toLowerCase()}`;
      const body = `$body$ BEGIN ${sql}; RETURN NULL; END $body$`;
      return [
        // `search_path` is fixed, so that the function finds our tables for a person with another search path.
        `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS ${body}`,
        `CREATE TRIGGER ${name} AFTER ${event} ON ${table} FOR EACH ROW EXECUTE FUNCTION ${name}()`,
      ];
    },
    ask,
    notices,
    beginChange: () => beginPostgres(writers, change, deadlineMs),
    oneStatement: {
      lockSql,
      run: (sql, values) => changePostgres(writers, deadlineMs, sql, values),
      runAfter: (sql, make) => changeInTwoSteps(writers, `${change}; ${sql}`, deadlineMs, make),
    },
    beginRead: () => beginPostgres(readers, read, deadlineMs),
    isTransient,
    async [Symbol.asyncDispose]() {
      await notices[Symbol.asyncDispose]();
      writers.end();
      readers.end();
    },
  };
}

/**
 * Sets limits for one transaction only: behind a connection pooler, the next transaction may belong to somebody else.
 */
function setLimits(deadlineMs: number): string {
  return [
    ['lock_timeout', deadlineMs],
    // Later than `lock_timeout`, so that a lock time-out is reported as such.
    ['statement_timeout', deadlineMs + 500],
    ['idle_in_transaction_session_timeout', deadlineMs + 500],
  ]
    .map(([name, ms]) => `SET LOCAL ${name} = ${ms}`)
    .join('; ');
}

/** Makes a change durable before it is acknowledged, whatever the operator configured. */
const durablySql = `SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit')
  WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true)`;

async function checkEncoding(database: Database): Promise<void> {
  const transaction = await database.beginRead();
  try {
    const [row] = (await transaction.query(`SELECT current_setting('server_encoding') AS encoding`)).rows;
    if (row?.encoding === 'UTF8') return;
    const message = `the database stores text as ${row?.encoding}, which lacks most characters; create one with UTF8`;
    throw new AppError('E_STORAGE_FAILED', message);
  } finally {
    await transaction.rollback();
  }
}
