import { AppError } from '@croft/protocol';

export interface QueueOptions {
  readonly atOnce: number;
  /** More than so many behind those are refused. */
  readonly waiting: number;
}

/** Lets so many do their work at once, and the others wait for their turn, in the order they came. */
export function createQueue({ atOnce, waiting }: QueueOptions) {
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
      // Whoever was given a turn already takes it, and finds out by itself.
      if (at >= 0) line.splice(at, 1);
      if (at >= 0) reject(signal.reason);
    };
    signal.addEventListener('abort', leave, { once: true });
    await promise.finally(() => signal.removeEventListener('abort', leave));
  }
}
