/** What a link may make this machine hold at once of files that are read or written whole. */
const maxHeldBytes = 512 * 1024 * 1024;

export type Budget = ReturnType<typeof createBudget>;

/** In order of arrival. What is larger than all there is goes alone. */
export function createBudget(total = maxHeldBytes) {
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
    /** Until it is let go of. */
    async hold(wanted: number): Promise<Disposable> {
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
