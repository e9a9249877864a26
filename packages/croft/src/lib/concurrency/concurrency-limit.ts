export type ConcurrencyLimit = ReturnType<typeof createConcurrencyLimit>;

/** Runs at most `count` pieces of work at the same time; the others wait in order of arrival. */
export function createConcurrencyLimit(count: number) {
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
