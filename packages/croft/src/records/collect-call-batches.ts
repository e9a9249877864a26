import type { AuditHash } from '../core/accounts/ports/audit-chain.ts';
import type { CallRecord } from '../core/accounts/ports/call-tables.ts';
import type { ChangeQueue } from './change-queue.ts';
import { type Appended, createKnownTrailEnd } from './known-trail-end.ts';
import type { Database } from './sql/database.ts';
import { createCallBatchStore } from './store-call-batch.ts';
import { checkCallRecord, toSessionKey } from './tables/calls/call-record-function.ts';

interface CallBatchesOptions extends Pick<AuditHash, 'hash'> {
  readonly database: Database;
  readonly changes: ChangeQueue;
  /** Called when rows of the audit trail are durable. */
  onStored(rows: Appended): void;
}

interface WaitingRecord {
  readonly record: CallRecord;
  resolve(isStored: boolean): void;
  reject(thrown: unknown): void;
}

const maxTogether = 256;

/** Stores the rows of calls in batches: all that wait when the database is free are one change. */
export function createCallBatchCollector({ database, changes, hash, onStored }: CallBatchesOptions) {
  const waiting: WaitingRecord[] = [];
  const trailEnd = createKnownTrailEnd();

  return { record, noteAppended: trailEnd.note };

  function record(record: CallRecord): Promise<boolean> {
    checkCallRecord(record);
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    waiting.push({ record, resolve, reject });
    // Later in the same turn: the end of a call and its session arrive one after the other.
    if (waiting.length === 1) queueMicrotask(storeNext);
    return promise;
  }

  async function storeNext(): Promise<void> {
    const take = createTaker();
    const records = () => take().map((each) => each.record);
    const writer = createCallBatchStore({ database, hash, trailEnd, records });
    try {
      const stored = await changes.run(writer.inTransaction, writer.inOneStep);
      const rows = writer.appended();
      if (rows) trailEnd.note(rows);
      if (rows) onStored(rows);
      for (const [index, { resolve }] of take().entries()) resolve(stored[index] ?? true);
    } catch (thrown) {
      for (const { reject } of take()) reject(thrown);
    }
  }

  /** A batch takes its records when the database is free, and keeps them if it has to be stored again. */
  function createTaker(): () => readonly WaitingRecord[] {
    let taken: readonly WaitingRecord[] | undefined;
    return () => {
      if (taken) return taken;
      taken = takeTogether(waiting);
      if (waiting.length > 0) queueMicrotask(storeNext);
      return taken;
    };
  }
}

/** Takes the first records, but two of one session never together: the second one has to follow the first. */
function takeTogether(waiting: WaitingRecord[]): readonly WaitingRecord[] {
  const sessions = new Set<string>();
  const isTaken = ({ record: { session } }: WaitingRecord, index: number) => {
    const key = session && toSessionKey(session);
    if (index >= maxTogether || (key !== undefined && sessions.has(key))) return false;
    if (key !== undefined) sessions.add(key);
    return true;
  };
  const { taken = [], left = [] } = Object.groupBy(waiting, (each, index) => (isTaken(each, index) ? 'taken' : 'left'));
  waiting.splice(0, waiting.length, ...left);
  return taken;
}
