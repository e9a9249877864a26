export interface BackoffSettings {
  readonly firstMs: number;
  readonly longestMs: number;
  /** A connection that lasted this long resets the backoff. */
  readonly steadyMs: number;
}

export const defaultBackoff: BackoffSettings = { firstMs: 1000, longestMs: 60_000, steadyMs: 10_000 };

/**
 * Exponential backoff with full jitter, so that all runners do not reconnect at the same moment after a server
 * restarts.
 */
export function createBackoff({ firstMs, longestMs }: BackoffSettings, random: () => number = Math.random) {
  let failures = 0;
  return {
    /** The next pause in ms. At most twice `firstMs` while a link with calls in flight waits for its connection. */
    next(isAwaited = false): number {
      const longest = Math.min(isAwaited ? 2 * firstMs : longestMs, firstMs * 2 ** Math.min(failures, 30));
      failures += 1;
      return random() * longest;
    },
    /** The pause after a refusal, which only a person can resolve. */
    slow: () => longestMs * (0.5 + random() / 2),
    reset(): void {
      failures = 0;
    },
  };
}
