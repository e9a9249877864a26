interface IdleKeys {
  /** Runs work for a key, which is not idle meanwhile. */
  use<T>(key: string, work: () => Promise<T>): Promise<T>;
}

/** Calls `drop` for each key that nobody has used for `idleMs`. */
export function createIdleKeyDropper(idleMs: number, drop: (key: string) => void): IdleKeys {
  const users = new Map<string, number>();
  const timers = new Map<string, NodeJS.Timeout>();

  function leave(key: string): void {
    const left = (users.get(key) ?? 1) - 1;
    if (left > 0) return void users.set(key, left);
    users.delete(key);
    const end = () => {
      timers.delete(key);
      drop(key);
    };
    timers.set(key, setTimeout(end, idleMs).unref());
  }

  return {
    async use(key, work) {
      clearTimeout(timers.get(key));
      timers.delete(key);
      users.set(key, (users.get(key) ?? 0) + 1);
      try {
        return await work();
      } finally {
        leave(key);
      }
    },
  };
}
