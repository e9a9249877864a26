export type Slots = ReturnType<typeof createSlots>;

/** Lets so many work at the same time, and the others after them in order of arrival. */
export function createSlots(count: number) {
  const waiting: (() => void)[] = [];
  let free = count;

  return {
    async run<T>(work: () => Promise<T>): Promise<T> {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next) next();
        else free += 1;
      }
    },
  };
}
