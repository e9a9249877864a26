import { setTimeout as pause } from 'node:timers/promises';
import { isPassing, toStorageError } from './failures.ts';

export interface RetryPolicy {
  /** How often something is tried before it counts as an outage. */
  readonly attempts: number;
  /** The second try comes within this time, each further one within twice the time of the one before. */
  readonly firstPauseMs: number;
}

export const defaultRetries: RetryPolicy = { attempts: 5, firstPauseMs: 100 };
const maxPauseMs = 5000;

/** Tries `work` again while what it throws may pass. Throws an `AppError`, or the reason of the signal. */
export async function withRetries<T>(
  { attempts, firstPauseMs }: RetryPolicy,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    try {
      return await work();
    } catch (thrown) {
      signal?.throwIfAborted();
      if (attempt >= attempts || !isPassing(thrown)) throw toStorageError(thrown);
      // At random, so that those who failed together do not come back together.
      const longest = Math.min(firstPauseMs * 2 ** (attempt - 1), maxPauseMs);
      await pause(Math.random() * longest, undefined, { signal }).catch(() => signal?.throwIfAborted());
    }
  }
}
