import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '@croft/protocol';
import { type QueuedChange, runChangeGroup, StuckChange, tooSlow } from './change-group.ts';
import type { Database, SqlConnection } from './sql/database.ts';
import { nothingStoredHint } from './sql/nothing-stored-hint.ts';

const maxTogether = 64;
const maxAttempts = 4;

/**
 * Runs changes one at a time. Changes that wait at the same time share a transaction, and so share the wait for the
 * disk.
 */
export function createChangeQueue(database: Database) {
  const line: QueuedChange[] = [];
  let running: Promise<void> | undefined;

  async function runAll(): Promise<void> {
    while (line.length > 0) {
      const group = line.splice(0, maxTogether).filter((change) => !isTooLate(change, database.deadlineMs));
      if (group.length > 0) await runGroup(group).catch((thrown) => handleFailure(group, thrown));
    }
    running = undefined;
  }

  async function runGroup(group: readonly QueuedChange[]): Promise<void> {
    const [first] = group;
    const result = group.length === 1 ? await first?.workInOne?.() : undefined;
    if (result !== undefined) return first?.resolve(result);
    const outcomes = await retryTransient(database, () => runChangeGroup(database, group));
    for (const { report } of outcomes) report();
    line.unshift(...group.slice(outcomes.length));
  }

  /** Rejects only the change that does not end. The others were rolled back with it and are queued again. */
  function handleFailure(group: readonly QueuedChange[], thrown: unknown): void {
    const isStuck = thrown instanceof StuckChange;
    const failed = isStuck ? [thrown.change] : group;
    for (const change of failed) change.reject(isStuck ? tooSlow(database.deadlineMs) : thrown);
    line.unshift(...group.filter((change) => !failed.includes(change)));
  }

  return {
    run<T>(work: (connection: SqlConnection) => Promise<T>, workInOne?: () => Promise<T | undefined>): Promise<T> {
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      line.push({
        since: performance.now(),
        // An async function, so that a synchronous throw becomes a rejection.
        work: async (connection) => work(connection),
        workInOne,
        resolve: (result) => resolve(result as T),
        reject,
      });
      running ??= runAll();
      return promise;
    },
    /** Resolves when no change is running. */
    finish: async () => running,
  };
}

export type ChangeQueue = ReturnType<typeof createChangeQueue>;

async function retryTransient<T>(database: Database, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (thrown) {
      if (attempt === maxAttempts || !database.isTransient(thrown)) throw thrown;
      await sleep(20 * attempt);
      await database.beforeRetry?.();
    }
  }
}

function isTooLate(change: QueuedChange, deadlineMs: number): boolean {
  if (performance.now() - change.since < 2 * deadlineMs) return false;
  change.reject(
    new AppError('E_STORAGE_FAILED', 'too many changes are waiting for the database', { hint: nothingStoredHint }),
  );
  return true;
}
