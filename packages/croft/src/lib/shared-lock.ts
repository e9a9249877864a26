/**
 * Work that goes on side by side, and work that is alone: it waits for all that came before it, and all that comes after
 * waits for it. Not re-entrant.
 */
export function createSharedLock() {
  /** The last that was or will be alone, and all that came since. */
  let [last, since]: [Promise<void> | undefined, Set<Promise<void>>] = [undefined, new Set()];

  return {
    /** Answers how to leave, which may be done twice. */
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
