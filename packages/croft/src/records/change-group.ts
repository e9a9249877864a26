import { AppError } from '@croft/protocol';
import { createAllOrNothingConnection } from './sql/all-or-nothing-connection.ts';
import type { Database, SqlConnection, SqlTransaction } from './sql/database.ts';
import { nothingStoredHint } from './sql/nothing-stored-hint.ts';
import { withDeadline } from './sql/with-deadline.ts';

/** A change in the queue. */
export interface QueuedChange {
  readonly since: number;
  work(connection: SqlConnection): Promise<unknown>;
  /**
   * Does the work in one step, without a transaction whose statements are awaited. Used if the change is alone in its group. Resolves
   * with `undefined` if nothing was stored so: then `work` runs.
   */
  workInOne?: (() => Promise<unknown>) | undefined;
  resolve(result: unknown): void;
  reject(thrown: unknown): void;
}

/** The result of a change, to be reported once it is durable. */
interface Outcome {
  readonly isStored: boolean;
  report(): void;
}

/** Thrown when a change does not end within the deadline. */
export class StuckChange extends Error {
  readonly change: QueuedChange;

  constructor(change: QueuedChange) {
    super('a change does not end');
    this.change = change;
  }
}

/**
 * After this time no further change of the group is started, so that finished changes do not wait long for the others.
 */
const maxTogetherMs = 100;

/**
 * Runs changes in one transaction and commits those that succeed. Returns the outcomes of the first ones, or of all if
 * they are quick. Throws if nothing was committed for another reason.
 */
export async function runChangeGroup(database: Database, group: readonly QueuedChange[]): Promise<Outcome[]> {
  const transaction = await database.beginChange();
  const endsAt = performance.now() + maxTogetherMs;
  const runOne = group.length === 1 ? runChange : runInSavepoint;
  const outcomes: Outcome[] = [];
  try {
    for (const change of group) {
      outcomes.push(await runOne(database, transaction, change));
      if (performance.now() > endsAt) break;
    }
    await (outcomes.some(({ isStored }) => isStored) ? transaction.commit() : transaction.rollback());
    return outcomes;
  } catch (thrown) {
    await transaction.rollback();
    throw thrown;
  }
}

type RunOne = (database: Database, transaction: SqlTransaction, change: QueuedChange) => Promise<Outcome>;

/** Runs a change in a savepoint, so that its failure does not undo the others in the transaction. */
const runInSavepoint: RunOne = async (database, transaction, change) => {
  await transaction.query('SAVEPOINT one_change');
  const outcome = await runChange(database, transaction, change);
  if (!outcome.isStored) await transaction.query('ROLLBACK TO SAVEPOINT one_change');
  await transaction.query('RELEASE SAVEPOINT one_change');
  return outcome;
};

const runChange: RunOne = async (database, transaction, change) => {
  const scope = createAllOrNothingConnection(transaction);
  const giveUp = (): never => {
    throw new StuckChange(change);
  };
  try {
    const result = await withDeadline(database.deadlineMs, change.work(scope), giveUp);
    scope.checkSound();
    return { isStored: true, report: () => change.resolve(result) };
  } catch (thrown) {
    if (thrown instanceof StuckChange || database.isTransient(thrown)) throw thrown;
    return { isStored: false, report: () => change.reject(thrown) };
  } finally {
    scope.close();
  }
};

export function tooSlow(deadlineMs: number): AppError {
  return new AppError(
    'E_STORAGE_FAILED',
    `the database or the work on it took longer than ${deadlineMs} ms and was cancelled; nothing was stored`,
    { hint: nothingStoredHint },
  );
}
