import postgres, { type ReservedSql } from 'postgres';
import type { Result, Value } from './sql/database.ts';
import type { Pooled } from './sql/pool.ts';
import { within } from './sql/within.ts';

export interface PostgresClient extends Pooled {
  query(sql: string, values?: readonly Value[]): Promise<Result>;
}

/**
 * One connection and never a second: the driver would go on with the next statement on a new one, outside of the
 * transaction that the lost one was in. Statements go one at a time, so that the driver has none to put off.
 */
export async function connectPostgres(url: string, deadlineMs: number): Promise<PostgresClient> {
  const { promise: lost, reject: lose } = Promise.withResolvers<never>();
  // Nobody may be waiting for anything when it is lost.
  lost.catch(() => {});
  let isUsable = true;

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
    lose(failure(code));
  }

  function discard(): void {
    markLost('CONNECTION_DESTROYED');
    void pool.end({ timeout: 0 }).catch(() => {});
  }

  async function connect(): Promise<ReservedSql> {
    // The driver connects for a statement, and for a reservation of a connection that is not there it waits for ever.
    await pool.unsafe('SELECT 1');
    return pool.reserve();
  }

  let connection: ReservedSql;
  try {
    connection = await within(deadlineMs, connect(), () => {
      throw failure('CONNECT_TIMEOUT');
    });
  } catch (thrown) {
    discard();
    throw thrown;
  }

  let last: Promise<unknown> = Promise.resolve();

  function query(sql: string, values: readonly Value[] = []): Promise<Result> {
    const run = async () => {
      if (!isUsable) throw failure('CONNECTION_CLOSED');
      const rows = await Promise.race([connection.unsafe(toNumbered(sql), [...values], { prepare: true }), lost]);
      return { rows, count: rows.count ?? rows.length };
    };
    const result = last.then(run);
    last = result.catch(() => {});
    return result;
  }

  return {
    get isUsable() {
      return isUsable;
    },
    query,
    discard,
  };
}

const numbered = new Map<string, string>();

/** There is no `?` in our SQL but for a value. */
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
