import { AppError } from '@croft/protocol';
import type { Connection, Database, Transaction } from './database.ts';
import { createScope } from './scope.ts';
import { within } from './within.ts';

/** A change that waits for its turn. */
export interface Waiting {
  readonly since: number;
  work(connection: Connection): Promise<unknown>;
  resolve(result: unknown): void;
  reject(thrown: unknown): void;
}

/** What became of a change, to be told when it is durable. */
interface Outcome {
  readonly isKept: boolean;
  settle(): void;
}

/** Names the change that took all the time there was. */
export class Stuck extends Error {
  readonly change: Waiting;

  constructor(change: Waiting) {
    super('a change does not end');
    this.change = change;
  }
}

/** No change waits longer than this for the work of others to end, once its own has. */
const maxTogetherMs = 100;

/**
 * Keeps those that do not fail, in one transaction. Answers for the first of them, and for all if they are quick. Throws
 * when none was kept because of something else.
 */
export async function runTogether(database: Database, group: readonly Waiting[]): Promise<Outcome[]> {
  const transaction = await database.beginChange();
  const endsAt = performance.now() + maxTogetherMs;
  const runOne = group.length === 1 ? runAlone : runApart;
  const outcomes: Outcome[] = [];
  try {
    for (const change of group) {
      outcomes.push(await runOne(database, transaction, change));
      if (performance.now() > endsAt) break;
    }
    await (outcomes.some(({ isKept }) => isKept) ? transaction.commit() : transaction.rollback());
    return outcomes;
  } catch (thrown) {
    await transaction.rollback();
    throw thrown;
  }
}

type RunOne = (database: Database, transaction: Transaction, change: Waiting) => Promise<Outcome>;

/** Undoes it on its own when it fails, because others are kept in the same transaction. */
const runApart: RunOne = async (database, transaction, change) => {
  await transaction.query('SAVEPOINT one_change');
  const outcome = await runAlone(database, transaction, change);
  if (!outcome.isKept) await transaction.query('ROLLBACK TO SAVEPOINT one_change');
  await transaction.query('RELEASE SAVEPOINT one_change');
  return outcome;
};

const runAlone: RunOne = async (database, transaction, change) => {
  const scope = createScope(transaction);
  const giveUp = (): never => {
    throw new Stuck(change);
  };
  try {
    const result = await within(database.deadlineMs, change.work(scope), giveUp);
    scope.checkSound();
    return { isKept: true, settle: () => change.resolve(result) };
  } catch (thrown) {
    if (thrown instanceof Stuck || database.isPassing(thrown)) throw thrown;
    return { isKept: false, settle: () => change.reject(thrown) };
  } finally {
    scope.close();
  }
};

export function tooSlow(deadlineMs: number): AppError {
  return new AppError(
    'E_STORAGE_FAILED',
    `the database or the work on it took longer than ${deadlineMs} ms and was given up; nothing of it was kept`,
  );
}
