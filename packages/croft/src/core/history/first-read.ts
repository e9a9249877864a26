export type FirstRead = ReturnType<typeof createFirstRead>;

/** A workspace is read whole once. A call waits for that for a while, and those after it not at all until it is done. */
export function createFirstRead(read: () => Promise<void>, waitMs: number) {
  let reading: Promise<void> | undefined;
  let [isRead, isLate] = [false, false];

  /** What failed is tried again by the next. */
  function wait(): Promise<void> {
    reading ??= read().then(
      () => {
        isRead = true;
      },
      (thrown) => {
        reading = undefined;
        throw thrown;
      },
    );
    return reading;
  }

  return {
    wait,
    hasRead: () => isRead,
    /** False if it takes too long: it goes on. */
    async isDone(): Promise<boolean> {
      const started = wait();
      if (isRead) return true;
      started.catch(() => {});
      if (isLate) return false;
      isLate = !(await within(started, waitMs));
      return !isLate;
    },
  };
}

async function within(work: Promise<unknown>, ms: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), ms);
  try {
    return await Promise.race([work.then(() => true), promise]);
  } finally {
    clearTimeout(timer);
  }
}
