export type KeyedLock = ReturnType<typeof createKeyedLock>;

/**
 * Runs work under the same key one at a time, in order of arrival; work under different keys runs side by side. A
 * failure does not stop the work that waits behind it.
 *
 * Not re-entrant: work that waits for its own key waits for ever.
 */
export function createKeyedLock() {
  const lastInLine = new Map<string, Promise<void>>();

  /** Holds all the keys while `work` runs. */
  async function runAll<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
    const unique = [...new Set(keys)];
    const { promise: finished, resolve: release } = Promise.withResolvers<void>();
    // Joining all queues before the first wait means waiting only for earlier arrivals, so two calls never wait for
    // each other.
    const previous = unique.map((key) => lastInLine.get(key));
    for (const key of unique) lastInLine.set(key, finished);
    try {
      await Promise.all(previous);
      return await work();
    } finally {
      for (const key of unique) if (lastInLine.get(key) === finished) lastInLine.delete(key);
      release();
    }
  }

  return {
    run: <T>(key: string, work: () => Promise<T>): Promise<T> => runAll([key], work),
    runAll,
    /** Tells whether new work under this key would have to wait. */
    isHeld: (key: string): boolean => lastInLine.has(key),
    /** How many keys are held or waited for. */
    get size() {
      return lastInLine.size;
    },
  };
}
