import { AppError } from '@croft/protocol';

const firstPauseMs = 500;
const maxPauseMs = 30_000;
/** A refresh within this time after a failure returns at once instead of waiting for another failure. */
const freshMs = 2_000;

export type OutageRetry = ReturnType<typeof createOutageRetry>;

export function isUnavailable(thrown: unknown): thrown is AppError {
  return AppError.is(thrown) && thrown.code === 'E_STORAGE_UNAVAILABLE';
}

/** Remembers that the storage does not answer, and retries with growing pauses until it does. */
export function createOutageRetry(retry: () => Promise<void>) {
  let since: Date | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  let pauseMs = firstPauseMs;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function plan(): void {
    if (isClosed || timer) return;
    timer = setTimeout(tryAgain, pauseMs * (0.5 + Math.random() / 2)).unref();
    pauseMs = Math.min(pauseMs * 2, maxPauseMs);
  }

  function began(): void {
    since ??= new Date();
    failedAt = performance.now();
    plan();
  }

  async function tryAgain(): Promise<void> {
    // `timer` stays set during the retry, so that other failures do not plan a second one.
    await retry().catch(() => {});
    timer = undefined;
    if (since) plan();
  }

  return {
    get since() {
      return since;
    },
    get isFresh() {
      return since !== undefined && performance.now() - failedAt < freshMs;
    },
    /** Runs `work` and records whether the storage answered. */
    async watching<T>(work: () => Promise<T>): Promise<T> {
      try {
        const result = await work();
        since = undefined;
        pauseMs = firstPauseMs;
        return result;
      } catch (thrown) {
        if (isUnavailable(thrown)) began();
        throw thrown;
      }
    },
    /** Retries at once. Called when the circuit breaker says that the bucket answers again. */
    retryNow(): void {
      if (isClosed || !since) return;
      clearTimeout(timer);
      pauseMs = firstPauseMs;
      timer = setTimeout(tryAgain, 0).unref();
    },
    close(): void {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
