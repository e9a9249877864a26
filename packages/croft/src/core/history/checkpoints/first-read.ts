export type FirstRead = ReturnType<typeof createFirstRead>;

interface FirstReadOptions {
  /**
   * Reads the whole workspace. Calls `onLarge` as soon as it is known that reading takes longer than a call should
   * wait.
   */
  read(onLarge: () => void): Promise<void>;
  /** How long a call waits for a workspace that is not large. */
  readonly waitMs: number;
  /** Called when the workspace is read, before those who wait for it continue. */
  onRead(): void;
}

/**
 * Reads a whole workspace once, in the background. In a small workspace, a call that needs a capture waits for this. In
 * a large one, or once reading has taken too long, no call waits.
 */
export function createFirstRead({ read, waitMs, onRead }: FirstReadOptions) {
  const late = Promise.withResolvers<void>();
  let reading: Promise<void> | undefined;
  let [isRead, isLate] = [false, false];

  const giveUp = () => {
    isLate = true;
    late.resolve();
  };

  /** Starts the read, or joins it. After a failure the next caller starts it again. */
  function wait(): Promise<void> {
    reading ??= read(giveUp).then(
      () => {
        isRead = true;
        onRead();
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
    /** Starts the read for a call that does not wait. `onFailure` receives the error. */
    start(onFailure: (thrown: unknown) => void): void {
      if (!isRead) wait().catch(onFailure);
    },
    /** Returns false if the read takes too long. The read continues. */
    async isDone(): Promise<boolean> {
      const started = wait();
      if (isRead) return true;
      started.catch(() => {});
      const timer = setTimeout(giveUp, waitMs);
      try {
        if (!isLate) await Promise.race([started, late.promise]);
        return isRead;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
