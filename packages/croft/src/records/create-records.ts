import { AppError } from '@croft/protocol';
import { type AuditHash, type ChainLink, plainHash } from '../core/accounts/ports/audit-chain.ts';
import type { Records, RecordsClock } from '../core/accounts/ports/records.ts';
import { tooSlow } from './change-group.ts';
import { createChangeQueue } from './change-queue.ts';
import { createCallBatchCollector } from './collect-call-batches.ts';
import { createDatabaseClock } from './database-clock.ts';
import type { Appended } from './known-trail-end.ts';
import { checkStorable, createAllOrNothingConnection } from './sql/all-or-nothing-connection.ts';
import type { Database, SqlConnection } from './sql/database.ts';
import { withDeadline } from './sql/with-deadline.ts';
import { bindTables } from './tables/bind-tables.ts';
import { migrate } from './tables/migrations.ts';

/** How the audit trail is hashed, and who is notified of rows once they are durable. */
export interface AuditHooks extends Pick<AuditHash, 'hash'> {
  onStored?(rows: Pick<Records, 'read'>, from: ChainLink, to: ChainLink): void;
}

/** Implements `Records` on a database. Owns the database: closes it on disposal, and if this function throws. */
export async function createRecords(database: Database, audit: AuditHooks = plainHash): Promise<Records> {
  const changes = createChangeQueue(database);
  const reads = new Set<Promise<unknown>>();
  const glances = bindTables(createGlances(database), audit);
  let isClosed = false;

  const clock = createClock(database);
  const onStored = ({ from, to }: Appended) => audit.onStored?.(records, from, to);
  const calls = createCallBatchCollector({ database, changes, hash: audit.hash, onStored });

  try {
    await migrate(database, changes.run);
    await clock?.measure();
  } catch (thrown) {
    await database[Symbol.asyncDispose]();
    throw thrown;
  }

  function checkOpen(): void {
    if (isClosed) throw new AppError('E_STORAGE_FAILED', 'the server is stopping and stores no more records');
  }

  /** The database is not closed while somebody reads. */
  function track<T>(reading: Promise<T>): Promise<T> {
    const forget = () => void reads.delete(reading);
    reads.add(reading);
    reading.then(forget, forget);
    return reading;
  }

  const records: Records = {
    name: database.name,
    isShared: database.isShared,
    ...{ clock, notices: database.notices },
    async change(work) {
      checkOpen();
      // Reset for each attempt: the work may run more than once, and only the committed attempt counts.
      let storedRows: Appended | undefined;
      const appended = (from: ChainLink, to: ChainLink) => {
        storedRows = { from: storedRows?.from ?? from, to };
      };
      const result = await changes.run((connection) => {
        storedRows = undefined;
        return work(bindTables(connection, { hash: audit.hash, onAppended: appended }));
      });
      if (storedRows) {
        calls.noteAppended(storedRows);
        onStored(storedRows);
      }
      return result;
    },
    async recordCall(rows) {
      checkOpen();
      return calls.record(rows);
    },
    async read(work) {
      checkOpen();
      const seen = retryOnce(database, () =>
        readInTransaction(database, (connection) => work(bindTables(connection, audit))),
      );
      return track(seen);
    },
    async glance(work) {
      checkOpen();
      return track(retryOnce(database, () => work(glances)));
    },
    async [Symbol.asyncDispose]() {
      if (isClosed) return;
      isClosed = true;
      await Promise.allSettled([changes.finish(), ...reads]);
      await database[Symbol.asyncDispose]();
    },
  };
  return records;
}

/** A connection for single statements. All glances share it, because nothing of one remains for the next. */
function createGlances({ ask }: Database): SqlConnection {
  return {
    async query(sql, values = []) {
      for (const value of values) checkStorable(value);
      return ask(sql, values);
    },
  };
}

function createClock(database: Database): RecordsClock | undefined {
  const { timeSql } = database;
  if (timeSql === undefined) return undefined;
  return createDatabaseClock(() => retryOnce(database, async () => Number((await database.ask(timeSql)).rows[0]?.ms)));
}

type ReadWork<T> = (connection: SqlConnection) => Promise<T>;

/**
 * Retries once after a transient failure: a connection may have been lost since its last use, and the retry gets a new
 * one.
 */
async function retryOnce<T>(database: Database, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (thrown) {
    if (!database.isTransient(thrown)) throw thrown;
    return ask();
  }
}

async function readInTransaction<T>(database: Database, work: ReadWork<T>): Promise<T> {
  const transaction = await database.beginRead();
  const scope = createAllOrNothingConnection(transaction);
  try {
    const result = await withDeadline(database.deadlineMs, work(scope), () => {
      throw tooSlow(database.deadlineMs);
    });
    scope.checkSound();
    return result;
  } finally {
    scope.close();
    // A read-only transaction has nothing to commit.
    await transaction.rollback();
  }
}
