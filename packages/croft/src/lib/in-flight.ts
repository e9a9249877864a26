/** Counts work under way, so that a program can wait for it to end. */
export function createInFlight() {
  let active = 0;
  let waiting: (() => void)[] = [];

  return {
    async run<T>(work: () => Promise<T>): Promise<T> {
      active += 1;
      try {
        return await work();
      } finally {
        active -= 1;
        if (active === 0) {
          for (const resolve of waiting) resolve();
          waiting = [];
        }
      }
    },
    /** Resolves when nothing is under way, or after `deadlineMs` whatever is. */
    idle(deadlineMs: number): Promise<void> {
      if (active === 0) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, deadlineMs);
      waiting.push(resolve);
      return promise.finally(() => clearTimeout(timer));
    },
  };
}
