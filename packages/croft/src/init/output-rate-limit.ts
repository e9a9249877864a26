import { createTokenBucket } from '../lib/concurrency/token-bucket.ts';

/** Output that a sandbox may send at full speed. */
const burstBytes = 32 * 1024 * 1024;
/** Output per second after that: far more than anybody reads, and little work for the main thread. */
const bytesPerSecond = 8 * 1024 * 1024;

export interface OutputRateLimit {
  /** Calls `allow` when the sandbox may send this many more bytes: at once, or after a pause. */
  wait(bytes: number, allow: () => void): void;
}

/**
 * Limits the output rate of a sandbox. Every byte passes through the server's main thread, even if no answer has space
 * for it, so a flood of output would slow down all other sessions.
 */
export function createOutputRateLimit(now: () => number = () => performance.now()): OutputRateLimit {
  const bucket = createTokenBucket({ capacity: burstBytes, perSecond: bytesPerSecond, now });
  return {
    wait(bytes, allow) {
      bucket.spend(bytes);
      const pauseMs = Math.ceil(bucket.msUntil(0));
      if (pauseMs === 0) return allow();
      setTimeout(allow, pauseMs).unref();
    },
  };
}
