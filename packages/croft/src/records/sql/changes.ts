import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '@croft/protocol';
import type { Connection, Database } from './database.ts';
import { runTogether, Stuck, tooSlow, type Waiting } from './group.ts';

const maxTogether = 64;
const maxAttempts = 4;

/** Runs changes one after the other. Those that wait at the same time share a transaction, and so the wait for the disk. */
export function createChanges(database: Database) {
  const line: Waiting[] = [];
  let running: Promise<void> | undefined;

  async function runAll(): Promise<void> {
    while (line.length > 0) {
      const group = line.splice(0, maxTogether).filter((change) => !isTooLate(change, database.deadlineMs));
      if (group.length > 0) await runGroup(group).catch((thrown) => handleFailure(group, thrown));
    }
    running = undefined;
  }

  async function runGroup(group: readonly Waiting[]): Promise<void> {
    const outcomes = await retryPassing(database, () => runTogether(database, group));
    for (const { settle } of outcomes) settle();
    line.unshift(...group.slice(outcomes.length));
  }

  /** Only a change that does not end is given up. The others were undone with it, and go again. */
  function handleFailure(group: readonly Waiting[], thrown: unknown): void {
    const isStuck = thrown instanceof Stuck;
    const failed = isStuck ? [thrown.change] : group;
    for (const change of failed) change.reject(isStuck ? tooSlow(database.deadlineMs) : thrown);
    line.unshift(...group.filter((change) => !failed.includes(change)));
  }

  return {
    run<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      line.push({
        since: performance.now(),
        // As an async function, so that what it throws at once is like what it throws later.
        work: async (connection) => work(connection),
        resolve: (result) => resolve(result as T),
        reject,
      });
      running ??= runAll();
      return promise;
    },
    /** Until none is under way. */
    finish: async () => running,
  };
}

async function retryPassing<T>(database: Database, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (thrown) {
      if (attempt === maxAttempts || !database.isPassing(thrown)) throw thrown;
      await sleep(20 * attempt);
    }
  }
}

function isTooLate(change: Waiting, deadlineMs: number): boolean {
  if (performance.now() - change.since < 2 * deadlineMs) return false;
  const message = 'too many changes wait for the database; nothing of this one was kept. Try again';
  change.reject(new AppError('E_STORAGE_FAILED', message));
  return true;
}
