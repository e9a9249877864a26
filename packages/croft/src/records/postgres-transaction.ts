import { AppError } from '@croft/protocol';
import type { PostgresClient } from './postgres-client.ts';
import { postgresError, unknownOutcome } from './postgres-errors.ts';
import type { Transaction } from './sql/database.ts';
import type { Pool } from './sql/pool.ts';
import { within } from './sql/within.ts';

type Clients = Pool<PostgresClient>;

/** `sql` begins it, sets its limits and takes its lock, all in one message. */
export async function beginPostgres(pool: Clients, sql: string, deadlineMs: number): Promise<Transaction> {
  let client: PostgresClient | undefined;
  try {
    client = await pool.take();
    // A little longer than PostgreSQL itself waits, whose answer says more.
    await withDiscard(client, deadlineMs + 1000, client.query(sql));
    return createTransaction(client, pool, deadlineMs);
  } catch (thrown) {
    // It is not known what state it is in.
    client?.discard();
    if (client) pool.give(client);
    throw postgresError(thrown);
  }
}

function createTransaction(client: PostgresClient, pool: Clients, deadlineMs: number): Transaction {
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
      // What is still being worked on cannot be told to stop. The end of the connection undoes it as well.
      if (underWay > 0) client.discard();
      await withDiscard(client, deadlineMs, client.query('ROLLBACK')).catch(() => client.discard());
      end();
    },
  };
}

/** What takes too long is ended with the connection. */
function withDiscard<T>(client: PostgresClient, ms: number, promise: Promise<T>): Promise<T> {
  return within(ms, promise, () => {
    client.discard();
    throw new AppError('E_STORAGE_FAILED', `PostgreSQL did not answer within ${ms} ms; check that it can be reached`);
  });
}
