/**
 * Default budget: bytes of whole-file reads and writes that the link to a server or runner may keep in memory at once.
 */
const defaultBudgetBytes = 512 * 1024 * 1024;

export type MemoryBudget = ReturnType<typeof createMemoryBudget>;

/**
 * Limits the bytes in use at once. Requests wait in order of arrival. A request larger than the whole budget waits
 * until nothing else is in use and then runs alone.
 */
export function createMemoryBudget(total = defaultBudgetBytes) {
  const waiting: { readonly bytes: number; readonly enter: () => void }[] = [];
  let free = total;

  function admit(): void {
    for (let next = waiting[0]; next && next.bytes <= free; next = waiting[0]) {
      waiting.shift();
      free -= next.bytes;
      next.enter();
    }
  }

  return {
    /** Resolves when `wanted` bytes are free. Disposing the answer frees them again. */
    async reserve(wanted: number): Promise<Disposable> {
      const bytes = Math.min(wanted, total);
      const entered = Promise.withResolvers<void>();
      waiting.push({ bytes, enter: entered.resolve });
      admit();
      await entered.promise;
      return {
        [Symbol.dispose]() {
          free += bytes;
          admit();
        },
      };
    },
  };
}
