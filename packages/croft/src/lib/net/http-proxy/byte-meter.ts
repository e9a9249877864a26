import { Transform, type TransformCallback } from 'node:stream';

export type ByteMeter = ReturnType<typeof createByteMeter>;

/**
 * Counts the bytes that pass the proxy. Beyond `maxBytes`, running transfers fail, and `isSpent` tells callers to start
 * no new ones.
 */
export function createByteMeter(maxBytes: number) {
  let total = 0;
  return {
    isSpent: () => total >= maxBytes,
    /** Streams to insert between the two ends of one direction of a connection. */
    stages: () => (maxBytes === Number.POSITIVE_INFINITY ? [] : [new Transform({ transform: count })]),
  };

  function count(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    total += chunk.length;
    if (total > maxBytes) done(new RangeError(`more than ${maxBytes} bytes`));
    else done(null, chunk);
  }
}
