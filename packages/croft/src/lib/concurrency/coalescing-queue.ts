/**
 * Runs pieces of work one after the other. Several calls of `later` within the delay run only one piece of work.
 * Failures go to `onFailure` and never to the caller.
 */
export function createCoalescingQueue(delayMs: number, onFailure: (thrown: unknown) => void) {
  let timer: NodeJS.Timeout | undefined;
  let last: Promise<void> = Promise.resolve();

  /** Runs `work` as soon as the current work has ended, and cancels a delayed run that has not started. */
  function run(work: () => Promise<void>): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    last = last.then(work).catch(onFailure);
    return last;
  }

  return {
    run,
    later(work: () => Promise<void>): void {
      timer ??= setTimeout(() => void run(work), delayMs).unref();
    },
  };
}
