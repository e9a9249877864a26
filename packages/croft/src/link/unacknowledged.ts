/** Frames in the order of their sequence numbers, from the first that the other side may not have. */
export interface Unacknowledged {
  readonly bytes: number;
  /** Of the last that was added. */
  readonly last: number;
  add(frame: Buffer): number;
  get(sequence: number): Buffer | undefined;
  /** Those up to `sequence` have arrived. */
  forget(sequence: number): void;
}

/** Dropping from the front of an array one by one would move the rest each time. */
const compactAfter = 1024;

export function createUnacknowledged(): Unacknowledged {
  let frames: (Buffer | undefined)[] = [];
  /** Of `frames[0]`. */
  let first = 1;
  let forgotten = 0;
  let bytes = 0;

  return {
    get bytes() {
      return bytes;
    },
    get last() {
      return first + frames.length - 1;
    },
    add(frame) {
      bytes += frame.length;
      return first + frames.push(frame) - 1;
    },
    get: (sequence) => frames[sequence - first],
    forget(sequence) {
      while (first + forgotten <= sequence && forgotten < frames.length) {
        bytes -= frames[forgotten]?.length ?? 0;
        frames[forgotten++] = undefined;
      }
      if (forgotten === frames.length || forgotten > compactAfter) compact();
    },
  };

  function compact(): void {
    frames = forgotten === frames.length ? [] : frames.slice(forgotten);
    first += forgotten;
    forgotten = 0;
  }
}
