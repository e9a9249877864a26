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
  // In order of use: the first was quiet longest.
  const buckets = new Map<string, Bucket>();
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
    buckets.delete(caller);
    buckets.set(caller, bucket);
    if (buckets.size > maxCallers) for (const oldest of buckets.keys()) return drop(oldest, bucket);
    return bucket;
  }

  function drop(oldest: string, bucket: Bucket): Bucket {
    buckets.delete(oldest);
    return bucket;
  }
}
