/** A period in which this thread ran no callback. */
export interface Stall {
  readonly durationMs: number;
  /**
   * Processor time that the thread used in that period. The rest of the period it waited for a disk or for its share of
   * a busy machine.
   */
  readonly processorMs: number;
}

interface StallOptions {
  /** Shorter stalls are not reported. */
  readonly leastMs: number;
  onStall(stall: Stall): void;
}

const tickMs = 20;

/** Watches the event loop of this thread with a timer, which fires late when something blocks the thread. */
export function watchStalls({ leastMs, onStall }: StallOptions): Disposable {
  let tickedAt = performance.now();
  let usage = process.threadCpuUsage();

  const timer = setInterval(() => {
    const stall = measure();
    if (stall.durationMs >= leastMs) onStall(stall);
  }, tickMs).unref();

  function measure(): Stall {
    const [now, used] = [performance.now(), process.threadCpuUsage(usage)];
    const durationMs = now - tickedAt - tickMs;
    [tickedAt, usage] = [now, process.threadCpuUsage()];
    return { durationMs, processorMs: Math.min((used.user + used.system) / 1000, durationMs) };
  }

  return { [Symbol.dispose]: () => clearInterval(timer) };
}
