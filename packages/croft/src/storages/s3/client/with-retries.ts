import { setTimeout as pause } from 'node:timers/promises';
import { isTransient, toStorageError } from './service-errors.ts';

export interface RetryPolicy {
  /** Number of attempts before a failure counts as an outage. */
  readonly attempts: number;
  /** Upper bound of the pause before the second attempt. It doubles for each further attempt. */
  readonly firstPauseMs: number;
}

export const defaultRetries: RetryPolicy = { attempts: 5, firstPauseMs: 100 };
const maxPauseMs = 5000;

/** Repeats `work` while its error is transient. Throws an `AppError` or the reason of the signal. */
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
      if (attempt >= attempts || !isTransient(thrown)) throw toStorageError(thrown);
      // A random pause, so that requests that failed together do not return together.
      const longest = Math.min(firstPauseMs * 2 ** (attempt - 1), maxPauseMs);
      await pause(Math.random() * longest, undefined, { signal }).catch(() => signal?.throwIfAborted());
    }
  }
}
