import { AppError } from '@croft/protocol';

const firstPauseMs = 500;
const maxPauseMs = 30_000;
/** Whoever comes so soon after a failure does not wait for another one. */
const freshMs = 2_000;

export type Outage = ReturnType<typeof createOutage>;

export function isUnavailable(thrown: unknown): thrown is AppError {
  return AppError.is(thrown) && thrown.code === 'E_STORAGE_UNAVAILABLE';
}

/** Remembers that a storage does not answer, and tries from time to time until it does. */
export function createOutage(retry: () => Promise<void>) {
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
    // Whoever else fails meanwhile finds this one under way.
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
    /** Notices that the storage does not answer, and that it does again. */
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
    close(): void {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
