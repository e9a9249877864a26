import { type AuditHash, type ChainLink, chainStart } from '../core/accounts/ports/audit-chain.ts';
import type { CallRecord } from '../core/accounts/ports/call-tables.ts';
import type { Tables } from '../core/accounts/ports/records.ts';
import { storeCallRecords } from '../core/accounts/ports/store-call-records.ts';
import type { Appended, KnownTrailEnd } from './known-trail-end.ts';
import type { Database, Result, SqlConnection, Statement } from './sql/database.ts';
import { bindTables } from './tables/bind-tables.ts';
import * as auditTable from './tables/calls/audit.ts';
import {
  type CallRecordAnswer,
  readCallRecordAnswer,
  toCallRecordStatement,
} from './tables/calls/call-record-function.ts';
import { type CallBatch, storeCallsAtOnce } from './tables/calls/store-calls-at-once.ts';

/** A value of a statement may have at most four times as many bytes: see `checkStorable`. */
const maxStatementLength = 4_000_000;

interface BatchWriterOptions extends Pick<AuditHash, 'hash'> {
  readonly database: Database;
  readonly trailEnd: KnownTrailEnd;
  /** The records of the batch. */
  records(): readonly CallRecord[];
}

/**
 * Stores one batch: in one step made for the expected end of the trail, in a second one if another server has moved the
 * end, in two that read the end first, or in a transaction with other changes. The database stores nothing for an end
 * that is not the real one.
 */
export function createCallBatchStore({ database, hash, trailEnd, records }: BatchWriterOptions) {
  let appended: Appended | undefined;
  /** The end of the trail if the step whose answer was lost has been carried out. */
  let uncertain: ChainLink | undefined;

  return {
    appended: () => appended,

    /** Resolves with whether the session of each record was stored. */
    async inTransaction(connection: SqlConnection): Promise<boolean[]> {
      appended = undefined;
      const onAppended = (from: ChainLink, to: ChainLink) => {
        appended = { from, to };
      };
      const tables = bindTables(connection, { hash, onAppended });
      // Sessions count as not stored: their owner then compares versions.
      if (uncertain && (await hasRow(tables, uncertain))) return records().map(({ session }) => !session);
      return (await storeUnderLock(connection, tables)) ?? storeCallRecords(tables, records());
    },

    /** Resolves with `undefined` if nothing was stored, or if nobody knows. */
    async inOneStep(): Promise<boolean[] | undefined> {
      const expected = trailEnd.expected();
      if (!expected) return storeInTwoSteps();
      const first = await storeAfter(expected);
      if (!first.end) return first.stored;
      const second = await storeAfter(first.end);
      if (second.end) trailEnd.noteContention();
      return second.stored;
    },
  };

  async function storeAfter(from: ChainLink): Promise<CallRecordAnswer> {
    const batch = chainAfter(from, records(), hash);
    const answer = await ifCertain(database, () => storeCallsAtOnce(database, batch));
    if (!answer && batch.rows.length > 0) uncertain = batch.to;
    if (answer?.stored) noteStored(batch);
    return answer ?? {};
  }

  /**
   * Reads the end of the trail under the lock, which other servers wait for meanwhile, and stores the rows that follow it.
   * Resolves with `undefined` if nothing was stored, or if nobody knows.
   */
  async function storeInTwoSteps(): Promise<boolean[] | undefined> {
    let batch: ChainedBatch | undefined;
    const make = (answer: Result) => {
      batch = chainAfter(auditTable.toEnd(answer) ?? chainStart, records(), hash);
      if (batch.rows.length > 0) uncertain = batch.to;
      return toStatement(batch, database);
    };
    const answer = await ifCertain(database, async () => database.oneStatement?.runAfter(auditTable.lastSql, make));
    if (!answer || !batch) return undefined;
    const { stored } = readCallRecordAnswer(answer, batch.records);
    if (stored) noteStored(batch);
    return stored;
  }

  /**
   * Stores all rows by one statement of the transaction, whatever their number: other servers wait for the lock meanwhile.
   * Resolves with `undefined` if nothing was stored so.
   */
  async function storeUnderLock(connection: SqlConnection, { audit }: Tables): Promise<boolean[] | undefined> {
    if (!database.oneStatement) return undefined;
    const batch = chainAfter((await audit.last()) ?? chainStart, records(), hash);
    const statement = toStatement(batch, database);
    if (!statement) return undefined;
    const { stored } = readCallRecordAnswer(await connection.query(...statement), batch.records);
    if (stored) noteStored(batch);
    return stored;
  }

  function noteStored({ end, rows, to }: ChainedBatch): void {
    if (rows.length > 0) appended = { from: end, to };
  }
}

interface ChainedBatch extends CallBatch {
  /** The end of the trail if the batch is stored. */
  readonly to: ChainLink;
}

function chainAfter(end: ChainLink, records: readonly CallRecord[], hash: AuditHash['hash']): ChainedBatch {
  const entries = records.flatMap((each) => each.entries ?? []);
  const rows = auditTable.chainEntries(entries, end, hash);
  return { end, rows, records, to: { rows: end.rows + rows.length, hash: rows.at(-1)?.hash ?? end.hash } };
}

/** Makes no statement of rows that are too large for one. */
function toStatement({ end, rows, records }: CallBatch, { deadlineMs }: Database): Statement | undefined {
  const statement = toCallRecordStatement(end, rows, records, deadlineMs);
  const isLarge = statement[1].some((value) => typeof value === 'string' && value.length > maxStatementLength);
  return isLarge ? undefined : statement;
}

/** Resolves with `undefined` if nobody knows whether the rows were stored. */
async function ifCertain<T>(database: Database, store: () => Promise<T>): Promise<T | undefined> {
  try {
    return await store();
  } catch (thrown) {
    if (database.isTransient(thrown)) return undefined;
    throw thrown;
  }
}

async function hasRow({ audit }: Tables, { rows, hash }: ChainLink): Promise<boolean> {
  const [row] = (await audit.list({}, { limit: 1, after: String(rows - 1) })).rows;
  return row?.sequence === rows && row.hash === hash;
}
