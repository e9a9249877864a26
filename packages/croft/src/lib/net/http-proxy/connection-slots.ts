export type ConnectionSlots = ReturnType<typeof createConnectionSlots>;

/** Allows at most `count` connections at once. Nobody waits for a free slot. */
export function createConnectionSlots(count: number) {
  let free = count;
  return {
    /**
     * Takes a slot. Returns the function that frees it, which has an effect only once, or `undefined` if no slot is
     * free.
     */
    take(): (() => void) | undefined {
      if (free === 0) return undefined;
      free--;
      let isTaken = true;
      return () => {
        if (isTaken) free++;
        isTaken = false;
      };
    },
  };
}
