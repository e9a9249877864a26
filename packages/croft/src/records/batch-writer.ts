import type { AuditHash, ChainLink } from '../core/accounts/ports/audit-chain.ts';
import type { CallRecord } from '../core/accounts/ports/call-tables.ts';
import type { Tables } from '../core/accounts/ports/records.ts';
import { storeCallRecords } from '../core/accounts/ports/store-call-records.ts';
import type { Database, SqlConnection } from './sql/database.ts';
import { chainEntries } from './tables/audit.ts';
import { bindTables } from './tables/bind-tables.ts';
import type { CallRecordAnswer } from './tables/call-record-function.ts';
import { type CallBatch, storeCallsAtOnce } from './tables/store-calls-at-once.ts';

/** Rows that were appended to the audit trail: where it ended before, and where it ends now. */
export interface Appended {
  readonly from: ChainLink;
  readonly to: ChainLink;
}

type TrailEnd = ReturnType<typeof createTrailEnd>;

/** The end of the audit trail, as far as this server knows it. */
export function createTrailEnd() {
  let end: ChainLink | undefined;
  let isContended = false;
  return {
    note({ from, to }: Appended): void {
      if (end?.rows === from.rows && end.hash === from.hash) isContended = false;
      end = to;
    },
    /** Other servers append so often that this one does not know the end for as long as one statement takes. */
    noteContention(): void {
      isContended = true;
    },
    /** Probable end of the trail. */
    expected: (): ChainLink | undefined => (isContended ? undefined : end),
  };
}

interface BatchWriterOptions extends Pick<AuditHash, 'hash'> {
  readonly database: Database;
  readonly trailEnd: TrailEnd;
  /** The records of the batch. */
  records(): readonly CallRecord[];
}

/**
 * Stores one batch: in one step made for the expected end of the trail, in a second one if another server has moved the
 * end, or in a transaction that reads the end first. The database stores nothing for an end that is not the real one.
 */
export function createBatchWriter({ database, hash, trailEnd, records }: BatchWriterOptions) {
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
      return storeCallRecords(tables, records());
    },

    /** Resolves with `undefined` if nothing was stored, or if nobody knows. */
    async inOneStep(): Promise<boolean[] | undefined> {
      const expected = trailEnd.expected();
      if (!expected) return undefined;
      const first = await storeAfter(expected);
      if (!first.end) return first.stored;
      const second = await storeAfter(first.end);
      if (second.end) trailEnd.noteContention();
      return second.stored;
    },
  };

  async function storeAfter(from: ChainLink): Promise<CallRecordAnswer> {
    const all = records();
    const entries = all.flatMap((each) => each.entries ?? []);
    const rows = chainEntries(entries, from, hash);
    const to = { rows: from.rows + rows.length, hash: rows.at(-1)?.hash ?? from.hash };
    const answer = await tryStoring(database, { end: from, rows, records: all });
    if (!answer && rows.length > 0) uncertain = to;
    if (answer?.stored && rows.length > 0) appended = { from, to };
    return answer ?? {};
  }
}

/** Resolves with `undefined` if nobody knows whether the batch was stored. */
async function tryStoring(database: Database, batch: CallBatch): Promise<CallRecordAnswer | undefined> {
  try {
    return await storeCallsAtOnce(database, batch);
  } catch (thrown) {
    if (database.isTransient(thrown)) return undefined;
    throw thrown;
  }
}

async function hasRow({ audit }: Tables, { rows, hash }: ChainLink): Promise<boolean> {
  const [row] = (await audit.list({}, { limit: 1, after: String(rows - 1) })).rows;
  return row?.sequence === rows && row.hash === hash;
}
