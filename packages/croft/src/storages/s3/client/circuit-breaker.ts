/**
 * Decides once, for all users of a bucket, that the bucket does not answer, and remembers it until the bucket answers.
 *
 * A request that gets no answer for some seconds, or no connection, makes the bucket suspect. The breaker then sends a
 * request of its own over a new connection: any answer counts, even a refusal. Without an answer the outage begins: all
 * requests under way are aborted, and later ones fail at once. The breaker asks again in the background, and the first
 * answer ends the outage. A request that only takes long is not aborted while the bucket answers others.
 */
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';

/**
 * The error of every request during an outage. Such a request is not retried, because the outage is already decided.
 */
export class BucketUnreachable extends Error {
  override readonly name = 'BucketAway';
  readonly code = 'EAWAY';
}

export interface CircuitBreakerOptions {
  /** Sends one request. Throws if the bucket does not answer before the signal aborts. */
  ask(signal: AbortSignal): Promise<void>;
  /** Called with a date when an outage begins, and with `undefined` when it ends. */
  onChange(since: Date | undefined): void;
}

export interface CircuitBreaker {
  readonly since: Date | undefined;
  /**
   * Throws `BucketAway` during an outage, but only after the event loop has turned: a caller that retries in a tight
   * loop would otherwise keep the process from noticing the end of the outage.
   */
  check(): Promise<void>;
  /** Asks the bucket and returns whether it answers. Concurrent callers share one request. */
  suspect(): Promise<boolean>;
  /** Calls `end` when an outage begins. Returns a function that stops this. */
  watch(end: (thrown: BucketUnreachable) => void): () => void;
  /** Calls `listener` when an outage ends. Returns a function that stops this. */
  onEnd(listener: () => void): () => void;
  stop(): void;
}

/** A request without an answer for this long makes its bucket suspect. */
export const suspectMs = 5000;
/** Time to answer the breaker's own request. `suspectMs + askMs` stays below ten seconds. */
const askMs = 4000;
/** Several tries, because a service that restarts refuses connections for a moment. */
const tries = 3;
const betweenMs = 400;
const firstPauseMs = 500;
const maxPauseMs = 5000;

export function createCircuitBreaker({ ask, onChange }: CircuitBreakerOptions): CircuitBreaker {
  const underWay = new Set<(thrown: BucketUnreachable) => void>();
  const listeners = new Set<() => void>();
  let since: Date | undefined;
  let asking: Promise<boolean> | undefined;
  let timer: NodeJS.Timeout | undefined;

  function begin(): void {
    since = new Date();
    onChange(since);
    const away = new BucketUnreachable('the bucket does not answer');
    for (const end of [...underWay]) end(away);
    askLater(firstPauseMs);
  }

  function askLater(pauseMs: number): void {
    timer = setTimeout(async () => {
      if (await answers(ask, 1)) end();
      else if (since) askLater(Math.min(pauseMs * 2, maxPauseMs));
    }, pauseMs).unref();
  }

  function end(): void {
    since = undefined;
    onChange(undefined);
    for (const listener of [...listeners]) listener();
  }

  async function decide(): Promise<boolean> {
    const isThere = await answers(ask, tries);
    asking = undefined;
    if (!isThere && !since) begin();
    return isThere;
  }

  return {
    get since() {
      return since;
    },
    async check() {
      if (!since) return;
      await nextTurn();
      throw new BucketUnreachable('the bucket does not answer');
    },
    suspect() {
      if (since) return Promise.resolve(false);
      asking ??= decide();
      return asking;
    },
    watch(end) {
      underWay.add(end);
      return () => underWay.delete(end);
    },
    onEnd(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop() {
      clearTimeout(timer);
      since = undefined;
    },
  };
}

async function answers(ask: CircuitBreakerOptions['ask'], times: number): Promise<boolean> {
  const late = AbortSignal.timeout(askMs);
  for (let count = 1; ; count += 1) {
    const isThere = await ask(late).then(
      () => true,
      () => false,
    );
    if (isThere || late.aborted || count >= times) return isThere;
    await pause(betweenMs);
  }
}
