import { AppError } from '@croft/protocol';

/** One call under way. */
export interface Call {
  /** Aborts when the caller takes it back, its time is up, or the program stops. */
  readonly signal: AbortSignal;
  mustEndWithin(timeoutMs: number | undefined, tool: string): void;
  /** What a failure was: an abort shows in a tool as whatever it was waiting for. */
  toFailure(thrown: unknown): AppError;
}

const graceMs = 2000;

/** The calls under way, so that a program can stop without losing one. */
export function createCalls() {
  const active = new Set<AbortController>();
  let isStopping = false;
  let onIdle: (() => void) | undefined;

  return { run, stop, isIdle: () => active.size === 0 };

  async function run<T>(caller: AbortSignal, work: (call: Call) => Promise<T>): Promise<T> {
    if (isStopping) throw new AppError('E_STOPPING', 'the server is stopping');
    const controller = new AbortController();
    const cancel = () => controller.abort();
    if (caller.aborted) cancel();
    caller.addEventListener('abort', cancel, { once: true });
    active.add(controller);
    const { call, release } = toCall(controller);
    try {
      return await work(call);
    } finally {
      release();
      caller.removeEventListener('abort', cancel);
      active.delete(controller);
      if (active.size === 0) onIdle?.();
    }
  }

  async function stop(deadlineMs: number): Promise<void> {
    isStopping = true;
    if (active.size === 0) return;
    const idle = new Promise<void>((resolve) => {
      onIdle = resolve;
    });
    const cancelling = setTimeout(() => {
      for (const controller of active) controller.abort();
    }, deadlineMs);
    const late = Promise.withResolvers<void>();
    // One that does not heed its signal must not keep the program.
    const leaving = setTimeout(late.resolve, deadlineMs + graceMs);
    await Promise.race([idle, late.promise]);
    clearTimeout(cancelling);
    clearTimeout(leaving);
  }
}

function toCall(controller: AbortController) {
  let timer: NodeJS.Timeout | undefined;
  const { signal } = controller;
  const call: Call = {
    signal,
    mustEndWithin(timeoutMs, tool) {
      signal.throwIfAborted();
      if (timeoutMs === undefined) return;
      // Once for each workspace of a call to all of them: the last counts.
      clearTimeout(timer);
      timer = setTimeout(() => controller.abort(tooLate(tool, timeoutMs)), timeoutMs);
    },
    toFailure(thrown) {
      if (!signal.aborted) return AppError.from(thrown);
      if (AppError.is(signal.reason)) return signal.reason;
      return new AppError('E_CANCELLED', 'the call was cancelled', { cause: thrown });
    },
  };
  return { call, release: () => clearTimeout(timer) };
}

function tooLate(tool: string, timeoutMs: number): AppError {
  return new AppError('E_TIMEOUT', `${tool} took longer than ${timeoutMs / 1000} s`, { details: { timeoutMs } });
}
