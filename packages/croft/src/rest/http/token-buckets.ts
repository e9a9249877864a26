import { BoundedMap } from '../../lib/bounded-map.ts';

interface TokenBucketsOptions {
  readonly perMinute: number;
  readonly now: () => number;
}

/**
 * The most callers that are remembered. Beyond that, the caller that was quiet longest starts with a full bucket again.
 */
const maxCallers = 10_000;

interface Bucket {
  tokens: number;
  filledAt: number;
}

/** Allows each caller `perMinute` requests a minute, also all at once. */
export function createTokenBuckets({ perMinute, now }: TokenBucketsOptions) {
  const buckets = new BoundedMap<string, Bucket>(maxCallers);
  const perMs = perMinute / 60_000;

  return {
    /** Returns 0 if the request is allowed, else the seconds until the next one is. */
    take(caller: string): number {
      const bucket = fill(caller);
      if (bucket.tokens >= 1) {
        bucket.tokens -= 1;
        return 0;
      }
      return Math.max(1, Math.ceil((1 - bucket.tokens) / perMs / 1000));
    },
  };

  function fill(caller: string): Bucket {
    const at = now();
    const known = buckets.get(caller);
    const tokens = known ? Math.min(perMinute, known.tokens + Math.max(0, at - known.filledAt) * perMs) : perMinute;
    const bucket = { tokens, filledAt: at };
    buckets.set(caller, bucket);
    return bucket;
  }
}
