export type Slots = ReturnType<typeof createSlots>;

/** At most `count` things at once, and no waiting. */
export function createSlots(count: number) {
  let free = count;
  return {
    /** What gives the slot back, once however often it is called; nothing when none is free. */
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
