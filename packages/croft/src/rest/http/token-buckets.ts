import { BoundedMap } from '../../lib/bounded-map.ts';
import { createTokenBucket, type TokenBucket } from '../../lib/concurrency/token-bucket.ts';

interface TokenBucketsOptions {
  /** Requests a minute. When the number changes, every caller starts with a full bucket again. */
  perMinute(): number;
  readonly now: () => number;
}

/**
 * The most callers that are remembered. Beyond that, the caller that was quiet longest starts with a full bucket again.
 */
const maxCallers = 10_000;

/** Allows each caller `perMinute` requests a minute, also all at once. */
export function createTokenBuckets({ perMinute, now }: TokenBucketsOptions) {
  const buckets = new BoundedMap<string, TokenBucket>(maxCallers);
  let allowed = perMinute();

  return {
    /** Returns 0 if the request is allowed, else the seconds until the next one is. */
    take(caller: string): number {
      const most = perMinute();
      if (most !== allowed) buckets.clear();
      allowed = most;
      const bucket = buckets.get(caller) ?? createTokenBucket({ capacity: most, perSecond: most / 60, now });
      // Set again, so that the map drops the caller that was quiet longest.
      buckets.set(caller, bucket);
      const waitMs = bucket.msUntil(1);
      if (waitMs === 0) bucket.spend(1);
      return Math.ceil(waitMs / 1000);
    },
  };
}
