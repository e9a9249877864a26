import { type CircuitBreaker, type CircuitBreakerOptions, createCircuitBreaker } from './circuit-breaker.ts';

interface CircuitBreakersOptions {
  /**
   * Called when an outage of a bucket begins (with a date) and when it ends (with `undefined`). `bucket` is the
   * bucket's URL.
   */
  onChange(bucket: string, since: Date | undefined): void;
}

interface SharedCircuitBreaker extends CircuitBreaker {
  /** Says that this user no longer needs the bucket. */
  release(): void;
}

export type CircuitBreakers = ReturnType<typeof createCircuitBreakers>;

/**
 * Keeps one breaker per bucket, shared by all users however often they open the bucket. An outage is remembered even
 * after the last user has released it.
 */
export function createCircuitBreakers({ onChange }: CircuitBreakersOptions) {
  const known = new Map<string, { readonly breaker: CircuitBreaker; users: number }>();

  function make(bucket: string, ask: CircuitBreakerOptions['ask']) {
    const onOutageChange = (since: Date | undefined) => {
      onChange(bucket, since);
      if (!since) dropUnused(bucket);
    };
    const entry = { breaker: createCircuitBreaker({ ask, onChange: onOutageChange }), users: 0 };
    known.set(bucket, entry);
    return entry;
  }

  function dropUnused(bucket: string): void {
    const entry = known.get(bucket);
    if (entry && entry.users === 0 && !entry.breaker.since) known.delete(bucket);
  }

  /** Stops and drops unused breakers when there are too many. */
  function trim(): void {
    if (known.size <= maxKnown) return;
    for (const [bucket, { breaker, users }] of known) {
      if (users > 0) continue;
      breaker.stop();
      known.delete(bucket);
    }
  }

  return {
    of(bucket: string, ask: CircuitBreakerOptions['ask']): SharedCircuitBreaker {
      trim();
      const entry = known.get(bucket) ?? make(bucket, ask);
      entry.users += 1;
      let isInUse = true;
      return Object.create(entry.breaker, {
        release: {
          value: () => {
            if (isInUse) entry.users -= 1;
            isInUse = false;
            dropUnused(bucket);
          },
        },
      });
    },
  };
}

const maxKnown = 1000;
