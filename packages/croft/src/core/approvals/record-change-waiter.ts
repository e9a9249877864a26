interface WaitOptions {
  /** Polled, because another server may be the one that records the decision. */
  isOver(): Promise<boolean>;
  readonly ms: number;
  readonly signal: AbortSignal;
  onTick?: ((waitedMs: number) => void) | undefined;
}

/** Poll intervals. They grow from the first to the last. */
export interface PollOptions {
  readonly firstPollMs: number;
  readonly lastPollMs: number;
}

const defaultPolls: PollOptions = { firstPollMs: 250, lastPollMs: 1000 };
const tickMs = 5000;

/** Waits for a change in the records by polling. A change in this program wakes the waiters at once. */
export function createRecordChangeWaiter({ firstPollMs, lastPollMs }: PollOptions = defaultPolls) {
  const wakers = new Map<string, Set<() => void>>();

  return {
    wake(id: string): void {
      for (const wake of wakers.get(id) ?? []) wake();
    },

    /** Resolves with whether `isOver` became true in time. Throws when the signal aborts. */
    async until(id: string, { isOver, ms, signal, onTick }: WaitOptions): Promise<boolean> {
      const startedAt = performance.now();
      const waited = () => performance.now() - startedAt;
      using bell = listen(id, signal);
      let [pollMs, nextTick] = [firstPollMs, 0];
      for (;;) {
        const isDone = await isOver();
        signal.throwIfAborted();
        if (isDone) return true;
        if (waited() >= ms) return false;
        if (waited() >= nextTick) {
          onTick?.(Math.round(waited()));
          nextTick += tickMs;
        }
        await bell.rings(Math.min(pollMs, ms - waited()));
        pollMs = Math.min(pollMs * 1.5, lastPollMs);
      }
    },
  };

  /** Registers a waiter. A wake-up between two waits is not lost. */
  function listen(id: string, signal: AbortSignal) {
    let isRung = false;
    let answer = () => {};
    const ring = () => {
      isRung = true;
      answer();
    };
    const listening = wakers.get(id) ?? new Set();
    wakers.set(id, listening.add(ring));
    signal.addEventListener('abort', ring);
    return {
      async rings(withinMs: number): Promise<void> {
        let timer: NodeJS.Timeout | undefined;
        await new Promise<void>((resolve) => {
          answer = resolve;
          timer = setTimeout(resolve, withinMs);
          if (isRung) resolve();
        });
        clearTimeout(timer);
        isRung = false;
      },
      [Symbol.dispose]() {
        signal.removeEventListener('abort', ring);
        listening.delete(ring);
        if (listening.size === 0) wakers.delete(id);
      },
    };
  }
}

export type RecordChangeWaiter = ReturnType<typeof createRecordChangeWaiter>;
