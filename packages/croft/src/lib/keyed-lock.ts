export type KeyedLock = ReturnType<typeof createKeyedLock>;

/**
 * Runs the work of one key one at a time, in order of arrival, and that of different keys side by
 * side. A failure does not hold up those behind it.
 *
 * Not re-entrant: work that waits for its own key waits for ever.
 */
export function createKeyedLock() {
  const lastInLine = new Map<string, Promise<void>>();

  /** Holds all the keys while `work` runs. */
  async function runAll<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
    const unique = [...new Set(keys)];
    const { promise: finished, resolve: release } = Promise.withResolvers<void>();
    // Joining every line before the first wait means waiting for earlier arrivals only, so never in a circle.
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
    /** Whether work that comes now has to wait. */
    isHeld: (key: string): boolean => lastInLine.has(key),
    /** How many keys are held or waited for. */
    get size() {
      return lastInLine.size;
    },
  };
}
