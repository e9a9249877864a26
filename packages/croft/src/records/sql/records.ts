import { AppError } from '@croft/protocol';
import type { Records } from '../../core/accounts/records.ts';
import { createChanges } from './changes.ts';
import type { Connection, Database } from './database.ts';
import { tooSlow } from './group.ts';
import { migrate } from './migrations.ts';
import { createScope } from './scope.ts';
import { createTables } from './tables.ts';
import { within } from './within.ts';

/** Takes the database over: it is closed with the records, and when this throws. */
export async function createRecords(database: Database): Promise<Records> {
  const changes = createChanges(database);
  const reads = new Set<Promise<unknown>>();
  let isClosed = false;

  try {
    await migrate(database, changes.run);
  } catch (thrown) {
    await database[Symbol.asyncDispose]();
    throw thrown;
  }

  function checkOpen(): void {
    if (isClosed) throw new AppError('E_STORAGE_FAILED', 'the server is stopping and keeps no more records');
  }

  return {
    name: database.name,
    async change(work) {
      checkOpen();
      return changes.run((connection) => work(createTables(connection)));
    },
    async read(work) {
      checkOpen();
      const look = lookOrRetry(database, (connection) => work(createTables(connection)));
      reads.add(look);
      return look.finally(() => reads.delete(look));
    },
    async [Symbol.asyncDispose]() {
      if (isClosed) return;
      isClosed = true;
      await Promise.allSettled([changes.finish(), ...reads]);
      await database[Symbol.asyncDispose]();
    },
  };
}

type Look<T> = (connection: Connection) => Promise<T>;

/** A connection that was lost since it was last used is no reason to fail: the next one is new. */
async function lookOrRetry<T>(database: Database, work: Look<T>): Promise<T> {
  try {
    return await look(database, work);
  } catch (thrown) {
    if (!database.isPassing(thrown)) throw thrown;
    return look(database, work);
  }
}

async function look<T>(database: Database, work: Look<T>): Promise<T> {
  const transaction = await database.beginRead();
  const scope = createScope(transaction);
  try {
    const result = await within(database.deadlineMs, work(scope), () => {
      throw tooSlow(database.deadlineMs);
    });
    scope.checkSound();
    return result;
  } finally {
    scope.close();
    // There is nothing to keep.
    await transaction.rollback();
  }
}
