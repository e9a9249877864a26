/** Frames in the order of their sequence numbers, starting with the first that the other side may lack. */
interface UnacknowledgedFrames {
  readonly bytes: number;
  /** The sequence number of the frame that was added last. */
  readonly last: number;
  add(frame: Buffer): number;
  get(sequence: number): Buffer | undefined;
  /** Forgets the frames up to `sequence`, which have arrived. */
  forget(sequence: number): void;
}

/** Compacting is done in batches, because removing the first element of an array moves all others. */
const compactAfter = 1024;

export function createUnacknowledgedFrames(): UnacknowledgedFrames {
  let frames: (Buffer | undefined)[] = [];
  /** The sequence number of `frames[0]`. */
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
