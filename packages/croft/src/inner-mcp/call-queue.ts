import { AppError } from '@croft/protocol';

interface QueueOptions {
  readonly atOnce: number;
  /** The most calls that may wait. Further calls are refused with `E_TOO_MANY`. */
  readonly waiting: number;
}

/** Runs at most `atOnce` calls at the same time. The others wait in the order they came. */
export function createCallQueue({ atOnce, waiting }: QueueOptions) {
  const line: (() => void)[] = [];
  let busy = 0;

  return async <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
    if (busy < atOnce) busy += 1;
    else await waitForTurn(signal);
    try {
      return await work();
    } finally {
      const next = line.shift();
      if (next) next();
      else busy -= 1;
    }
  };

  async function waitForTurn(signal: AbortSignal): Promise<void> {
    if (line.length >= waiting) throw new AppError('E_TOO_MANY', `${busy + line.length} calls are under way already`);
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    line.push(resolve);
    const leave = () => {
      const at = line.indexOf(resolve);
      // A caller that already has its turn starts, and finds its signal aborted.
      if (at >= 0) line.splice(at, 1);
      if (at >= 0) reject(signal.reason);
    };
    signal.addEventListener('abort', leave, { once: true });
    await promise.finally(() => signal.removeEventListener('abort', leave));
  }
}
