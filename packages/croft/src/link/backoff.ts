export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
  /** A connection that lasted so long was a good one: the next failure is the first again. */
  readonly steadyMs: number;
}

export const defaultBackoff: Backoff = { firstMs: 1000, longestMs: 60_000, steadyMs: 10_000 };

/** Full jitter: after a server has started anew, its runners do not come all at once. */
export function createPauses({ firstMs, longestMs }: Backoff, random: () => number = Math.random) {
  let failures = 0;
  return {
    /** Soon, while somebody waits for what was cut off. */
    next(isAwaited = false): number {
      const longest = Math.min(isAwaited ? 2 * firstMs : longestMs, firstMs * 2 ** Math.min(failures, 30));
      failures += 1;
      return random() * longest;
    },
    /** For what a person has to change first. */
    slow: () => longestMs * (0.5 + random() / 2),
    reset(): void {
      failures = 0;
    },
  };
}
