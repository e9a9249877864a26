import postgres, { type ReservedSql } from 'postgres';
import type { PooledConnection } from '../sql/connection-pool.ts';
import type { Result, Statement, Value } from '../sql/database.ts';
import { withDeadline } from '../sql/with-deadline.ts';

export interface PostgresClient extends PooledConnection {
  query(sql: string, values?: readonly Value[]): Promise<Result>;
  /** Sends COMMIT right behind the statement, in one round trip. If the statement fails, PostgreSQL rolls back. */
  queryAndCommit(sql: string, values: readonly Value[]): Promise<Result>;
}

/**
 * Opens exactly one connection. After a loss the driver would continue with the next statement on a new connection,
 * outside of the transaction. Statements are sent one at a time, so that the driver has none to queue.
 */
export async function connectPostgres(url: string, deadlineMs: number): Promise<PostgresClient> {
  let isUsable = true;
  /** Rejects the statement in progress. */
  let loseCurrent: ((thrown: Error) => void) | undefined;

  const pool = postgres(url, {
    max: 1,
    fetch_types: false,
    idle_timeout: 0,
    max_lifetime: null,
    keep_alive: 30,
    connect_timeout: Math.ceil(deadlineMs / 1000),
    connection: { application_name: 'croft' },
    onnotice: () => {},
    onclose: () => markLost('CONNECTION_CLOSED'),
  });

  function markLost(code: string): void {
    isUsable = false;
    loseCurrent?.(failure(code));
  }

  function discard(): void {
    markLost('CONNECTION_DESTROYED');
    void pool.end({ timeout: 0 }).catch(() => {});
  }

  async function connect(): Promise<ReservedSql> {
    // The driver connects only for a statement: without this one, `reserve` would wait for ever for a connection.
    await pool.unsafe('SELECT 1');
    return pool.reserve();
  }

  let connection: ReservedSql;
  try {
    connection = await withDeadline(deadlineMs, connect(), () => {
      throw failure('CONNECT_TIMEOUT');
    });
  } catch (thrown) {
    discard();
    throw thrown;
  }

  let last: Promise<unknown> = Promise.resolve();

  function runNext(...statements: readonly Statement[]): Promise<Result> {
    const result = last.then(() => run(statements));
    last = result.catch(() => {});
    return result;
  }

  /** Resolves with the answer to the first statement when all have been answered. */
  function run(statements: readonly Statement[]): Promise<Result> {
    if (!isUsable) throw failure('CONNECTION_CLOSED');
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    // Not `Promise.race` with a promise that lives as long as the connection: it would keep every statement in memory.
    loseCurrent = reject;
    Promise.all(statements.map(([sql, values]) => connection.unsafe(toNumbered(sql), [...values], { prepare: true })))
      .then(([rows]) => resolve({ rows: rows ?? [], count: rows?.count ?? rows?.length ?? 0 }))
      .catch(reject);
    return promise;
  }

  return {
    get isUsable() {
      return isUsable;
    },
    query: (sql, values = []) => runNext([sql, values]),
    queryAndCommit: (sql, values) => runNext([sql, values], ['COMMIT', []]),
    discard,
  };
}

const numbered = new Map<string, string>();

/** Replaces `?` by `$1`, `$2`, … Our SQL contains `?` only as a placeholder for a value. */
function toNumbered(sql: string): string {
  const known = numbered.get(sql);
  if (known !== undefined) return known;
  let count = 0;
  const made = sql.replace(/\?/g, () => {
    count += 1;
    return `$${count}`;
  });
  numbered.set(sql, made);
  return made;
}

function failure(code: string): Error {
  return Object.assign(new Error(code), { code });
}
