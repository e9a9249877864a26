/** The time of a fake server: the real one, and ahead of it as far as a test says. */
export interface FakeClock {
  now(): Date;
  /** Lets this much time pass at once: whatever was due until then happens. */
  advance(ms: number): void;
}

interface Sleeper {
  readonly dueMs: number;
  wake(): void;
}

export type InnerClock = ReturnType<typeof createClock>;

export function createClock() {
  let aheadMs = 0;
  const sleepers = new Set<Sleeper>();
  const nowMs = () => Date.now() + aheadMs;
  return {
    now: () => new Date(nowMs()),
    advance(ms: number): void {
      aheadMs += ms;
      for (const sleeper of sleepers) if (sleeper.dueMs <= nowMs()) sleeper.wake();
    },
    /** Resolves with whether the time has passed; `false` if the signal came first. */
    wait(ms: number, signal: AbortSignal): Promise<boolean> {
      return new Promise((resolve) => {
        const finish = (hasPassed: boolean) => {
          clearTimeout(timer);
          sleepers.delete(sleeper);
          resolve(hasPassed);
        };
        const sleeper = { dueMs: nowMs() + ms, wake: () => finish(true) };
        const timer = Number.isFinite(ms) ? setTimeout(() => finish(true), ms) : undefined;
        sleepers.add(sleeper);
        if (signal.aborted) return finish(false);
        signal.addEventListener('abort', () => finish(false), { once: true });
      });
    },
  };
}
