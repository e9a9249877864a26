/**
 * Makes a lock for work that may run side by side (`enter`) and work that must run alone (`alone`). Exclusive work
 * waits for all earlier work, and all later work waits for it. Not re-entrant.
 */
export function createSharedExclusiveLock() {
  /** The last exclusive work that was requested, and all shared work that came after it. */
  let [last, since]: [Promise<void> | undefined, Set<Promise<void>>] = [undefined, new Set()];

  return {
    /**
     * Resolves when no exclusive work is ahead. Returns a function that leaves the lock; calling it twice is harmless.
     */
    async enter(): Promise<() => void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      const here = since;
      here.add(promise);
      await last;
      return () => {
        here.delete(promise);
        resolve();
      };
    },
    async alone<T>(work: () => Promise<T>): Promise<T> {
      const { promise, resolve } = Promise.withResolvers<void>();
      const before = [last, ...since];
      [last, since] = [promise, new Set()];
      try {
        await Promise.all(before);
        return await work();
      } finally {
        resolve();
      }
    },
  };
}
