export interface BucketsOptions {
  readonly perMinute: number;
  readonly now: () => number;
}

/** More callers than this are not remembered; the one that was quiet longest starts anew. */
const maxCallers = 10_000;

interface Bucket {
  tokens: number;
  filledAt: number;
}

/** So many a minute for each caller, all of them at once if they like. */
export function createBuckets({ perMinute, now }: BucketsOptions) {
  // In order of use, so that the first is the one that was quiet longest.
  const buckets = new Map<string, Bucket>();
  const perMs = perMinute / 60_000;

  return {
    /** 0 when there was one to take, else in how many seconds there will be. */
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
