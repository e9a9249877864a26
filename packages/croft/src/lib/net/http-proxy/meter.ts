import { Transform, type TransformCallback } from 'node:stream';

export type Meter = ReturnType<typeof createMeter>;

/** Counts all that passes. When more than `maxBytes` did, what is under way fails and nothing new should begin. */
export function createMeter(maxBytes: number) {
  let total = 0;
  return {
    isSpent: () => total >= maxBytes,
    /** What to put between the two ends of one direction of a connection. */
    stages: () => (maxBytes === Number.POSITIVE_INFINITY ? [] : [new Transform({ transform: count })]),
  };

  function count(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    total += chunk.length;
    if (total > maxBytes) done(new RangeError(`more than ${maxBytes} bytes`));
    else done(null, chunk);
  }
}
