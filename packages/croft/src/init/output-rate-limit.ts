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
  let [left, at] = [burstBytes, now()];
  return {
    wait(bytes, allow) {
      const time = now();
      left = Math.min(burstBytes, left + ((time - at) / 1000) * bytesPerSecond) - bytes;
      at = time;
      if (left >= 0) return allow();
      setTimeout(allow, Math.ceil((-left / bytesPerSecond) * 1000)).unref();
    },
  };
}
