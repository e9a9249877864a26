import { AppError } from '@croft/protocol';

/** Spaces out the commands of one account that keeps filling a nearly full disk. */
export interface CommandPacing {
  /** Resolves when the next command of the account may start. Throws `E_STORAGE_FULL` if too many wait already. */
  waitForTurn(signal: AbortSignal): Promise<void>;
  /** A command of the account grew and was reverted. */
  reportGrowth(): void;
}

/** Time between the starts of two commands: long enough to end and revert the first one. */
const defaultPauseMs = 2000;
/** Commands that wait for their start. One more is refused. */
const maxWaiting = 5;
/** An account that has not grown for this many pauses is not paced. */
const forgetAfter = 15;

/**
 * Creates the pacing of one account. Such an account could otherwise keep the disk full without a pause, and use up the
 * blocks that the records have in advance. Its commands only start later, because they may free space.
 */
export function createCommandPacing(isShort: () => boolean, pauseMs = defaultPauseMs): CommandPacing {
  let grownAt = Number.NEGATIVE_INFINITY;
  let nextStartAt = 0;
  return {
    async waitForTurn(signal) {
      const now = performance.now();
      if (!isShort() || now - grownAt > forgetAfter * pauseMs) return;
      const waitMs = Math.max(0, nextStartAt - now);
      if (waitMs > maxWaiting * pauseMs) throw tooManyWait();
      nextStartAt = now + waitMs + pauseMs;
      await sleep(waitMs, signal);
    },
    reportGrowth() {
      grownAt = performance.now();
      nextStartAt = Math.max(nextStartAt, grownAt + pauseMs);
    },
  };
}

/** Throws the reason of the signal when it is aborted. */
async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise, resolve } = Promise.withResolvers<void>();
  const wake = () => resolve();
  const timer = setTimeout(wake, ms);
  signal.addEventListener('abort', wake, { once: true });
  await promise;
  clearTimeout(timer);
  signal.removeEventListener('abort', wake);
  signal.throwIfAborted();
}

function tooManyWait(): AppError {
  const message =
    'the disk of this server is nearly full, commands of this account kept filling it, and too many of them wait to start';
  const hint =
    'Nothing was done. Delete files with the tool delete, which does not wait, or send fewer commands at once.';
  return new AppError('E_STORAGE_FULL', message, { details: { limit: 'disk' }, hint });
}
