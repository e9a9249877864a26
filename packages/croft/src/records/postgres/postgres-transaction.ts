import { AppError } from '@croft/protocol';
import type { ConnectionPool } from '../sql/connection-pool.ts';
import type { Result, SqlConnection, SqlTransaction, Statement } from '../sql/database.ts';
import { nothingStoredHint } from '../sql/nothing-stored-hint.ts';
import { withDeadline } from '../sql/with-deadline.ts';
import type { PostgresClient } from './postgres-client.ts';
import { isTransient, postgresError, unknownOutcome } from './postgres-errors.ts';

type Clients = ConnectionPool<PostgresClient>;

/** Begins a transaction. `sql` begins it, sets its limits and takes its lock, in one message. */
export async function beginPostgres(pool: Clients, sql: string, deadlineMs: number): Promise<SqlTransaction> {
  let client: PostgresClient | undefined;
  try {
    client = await pool.take();
    // Slightly longer than PostgreSQL's own time-out, because PostgreSQL's error says more.
    await withDiscard(client, deadlineMs + 1000, client.query(sql));
    return createTransaction(client, pool, deadlineMs);
  } catch (thrown) {
    // The connection is in an unknown state.
    client?.discard();
    if (client) pool.give(client);
    throw postgresError(thrown);
  }
}

/**
 * Runs a change in two round trips: `sql` begins it and ends with a question, and `make` makes the one statement of the
 * answer. Nothing is changed if it makes none.
 */
export async function changeInTwoSteps(
  pool: Clients,
  sql: string,
  deadlineMs: number,
  make: (answer: Result) => Statement | undefined,
): Promise<Result | undefined> {
  const client = await pool.take().catch((thrown) => {
    throw postgresError(thrown);
  });
  let isSent = false;
  try {
    const statement = make(lastOf(await withDiscard(client, deadlineMs + 1000, client.query(sql))));
    isSent = statement !== undefined;
    if (statement) return await withDiscard(client, deadlineMs + 1000, client.queryAndCommit(...statement));
    await withDiscard(client, deadlineMs, client.query('ROLLBACK'));
    return undefined;
  } catch (thrown) {
    // The connection is in an unknown state.
    client.discard();
    const error = postgresError(thrown);
    throw isSent && !isTransient(error) ? unknownOutcome(thrown) : error;
  } finally {
    pool.give(client);
  }
}

/** The answer to the last of several statements that were sent as one text. */
function lastOf({ rows }: Result): Result {
  const last = rows.at(-1) as unknown as Result['rows'];
  return { rows: last, count: last.length };
}

/** Runs a statement outside of a transaction, in one round trip. */
export async function askPostgres(
  pool: Clients,
  deadlineMs: number,
  ...[sql, values]: Parameters<SqlConnection['query']>
): Promise<Result> {
  let client: PostgresClient | undefined;
  try {
    client = await pool.take();
    return await withDiscard(client, deadlineMs, client.query(sql, values));
  } catch (thrown) {
    throw postgresError(thrown);
  } finally {
    if (client) pool.give(client);
  }
}

/**
 * Runs a statement that is a whole change. If PostgreSQL does not answer in time, nobody knows whether the change was
 * stored, and the error says so. The error of a lost connection is transient: the caller looks.
 */
export async function changePostgres(
  pool: Clients,
  deadlineMs: number,
  ...[sql, values]: Parameters<SqlConnection['query']>
): Promise<Result> {
  const client = await pool.take().catch((thrown) => {
    throw postgresError(thrown);
  });
  try {
    // Slightly longer than PostgreSQL's own time-out for the lock, because PostgreSQL's error says more.
    return await withDiscard(client, deadlineMs + 1000, client.query(sql, values));
  } catch (thrown) {
    const error = postgresError(thrown);
    throw isTransient(error) ? error : unknownOutcome(thrown);
  } finally {
    pool.give(client);
  }
}

function createTransaction(client: PostgresClient, pool: Clients, deadlineMs: number): SqlTransaction {
  let underWay = 0;
  let isOver = false;

  function end(): void {
    isOver = true;
    pool.give(client);
  }

  return {
    async query(sql, values) {
      underWay += 1;
      try {
        return await client.query(sql, values);
      } catch (thrown) {
        throw postgresError(thrown);
      } finally {
        underWay -= 1;
      }
    },
    async commit() {
      try {
        await withDiscard(client, deadlineMs, client.query('COMMIT'));
      } catch (thrown) {
        throw unknownOutcome(thrown);
      }
      end();
    },
    async rollback() {
      if (isOver) return;
      // A running statement cannot be stopped. Closing the connection undoes it as well.
      if (underWay > 0) client.discard();
      await withDiscard(client, deadlineMs, client.query('ROLLBACK')).catch(() => client.discard());
      end();
    },
  };
}

/** Closes the connection if `promise` takes longer than `ms`. */
function withDiscard<T>(client: PostgresClient, ms: number, promise: Promise<T>): Promise<T> {
  return withDeadline(ms, promise, () => {
    client.discard();
    const message = `PostgreSQL did not answer within ${ms} ms; check that it can be reached`;
    throw new AppError('E_STORAGE_FAILED', message, { hint: nothingStoredHint });
  });
}
