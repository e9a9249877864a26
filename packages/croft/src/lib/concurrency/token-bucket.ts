export type TokenBucket = ReturnType<typeof createTokenBucket>;

interface TokenBucketOptions {
  /** Tokens of a full bucket, which can be spent at once. */
  readonly capacity: number;
  readonly perSecond: number;
  /** Milliseconds. */
  readonly now?: (() => number) | undefined;
}

/**
 * Limits a rate: tokens are spent on requests, bytes or steps, and come back with time. `createConcurrencyLimit` limits
 * what runs at once, and `createMemoryBudget` the bytes in use at once.
 */
export function createTokenBucket({ capacity, perSecond, now = () => performance.now() }: TokenBucketOptions) {
  let [left, at] = [capacity, now()];

  function refill(): number {
    const time = now();
    // A wall clock may go back.
    left = Math.min(capacity, left + (Math.max(0, time - at) / 1000) * perSecond);
    at = time;
    return left;
  }

  return {
    /** May leave a debt, which has to be refilled first. */
    spend(tokens: number): void {
      left = refill() - tokens;
    },
    isSpent: (): boolean => refill() <= 0,
    /** Milliseconds until the bucket has this many tokens; 0 if it has them. */
    msUntil: (tokens: number): number => Math.max(0, ((tokens - refill()) / perSecond) * 1000),
  };
}
