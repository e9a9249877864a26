import { AppError } from '@croft/protocol';
import { noteCallStarted } from '../../lib/concurrency/turns.ts';

/** One tool call in progress. */
export interface ActiveCall {
  /** Unique per call. Events and audit rows carry it. */
  readonly id: string;
  /** Aborts when the caller cancels, the deadline passes, or the program stops. */
  readonly signal: AbortSignal;
  /** Receives a function that reads what the command of the call has printed so far. */
  showOutput(read: () => string): void;
  mustEndWithin(timeoutMs: number | undefined, tool: string): void;
  /**
   * Returns the real reason of a failure: after an abort, a tool throws whatever error its pending operation raised.
   */
  toFailure(thrown: unknown): AppError;
}

const graceMs = 2000;

/** Tracks the calls in progress, so that a program can stop without losing one. */
export function createActiveCalls() {
  const active = new Set<AbortController>();
  const outputs = new Map<string, () => string>();
  /** Set once the program stops: the error that every new call gets. */
  let refusal: AppError | undefined;
  let onIdle: (() => void) | undefined;

  return { run, stop, isIdle: () => active.size === 0, outputOf: (call: string) => outputs.get(call)?.() };

  /** Runs `work` until any of the signals aborts. */
  async function run<T>(enders: readonly AbortSignal[], work: (call: ActiveCall) => Promise<T>): Promise<T> {
    if (refusal) throw refusal;
    using _noted = noteCallStarted();
    const controller = new AbortController();
    // The end of a session carries an AppError as its reason. The abort of a caller that disconnects carries nothing
    // useful.
    const cancel = () => {
      const reason = enders.find(({ aborted }) => aborted)?.reason;
      controller.abort(AppError.is(reason) ? reason : undefined);
    };
    if (enders.some(({ aborted }) => aborted)) cancel();
    for (const ender of enders) ender.addEventListener('abort', cancel, { once: true });
    active.add(controller);
    const { call, release } = startCall(controller, outputs);
    try {
      return await work(call);
    } finally {
      release();
      for (const ender of enders) ender.removeEventListener('abort', cancel);
      active.delete(controller);
      if (active.size === 0) onIdle?.();
    }
  }

  async function stop(deadlineMs: number, reason?: AppError): Promise<void> {
    refusal = reason ?? new AppError('E_STOPPING', 'the server is stopping');
    if (active.size === 0) return;
    const idle = new Promise<void>((resolve) => {
      onIdle = resolve;
    });
    const cancelling = setTimeout(() => {
      for (const controller of active) controller.abort(reason);
    }, deadlineMs);
    const late = Promise.withResolvers<void>();
    // A call that ignores its signal must not keep the program running.
    const leaving = setTimeout(late.resolve, deadlineMs + graceMs);
    await Promise.race([idle, late.promise]);
    clearTimeout(cancelling);
    clearTimeout(leaving);
  }
}

function startCall(controller: AbortController, outputs: Map<string, () => string>) {
  let timer: NodeJS.Timeout | undefined;
  const id = crypto.randomUUID();
  const { signal } = controller;
  const call: ActiveCall = {
    id,
    signal,
    showOutput: (read) => void outputs.set(id, read),
    mustEndWithin(timeoutMs, tool) {
      signal.throwIfAborted();
      if (timeoutMs === undefined) return;
      // A call to all workspaces sets the deadline once per workspace: the last one counts.
      clearTimeout(timer);
      timer = setTimeout(() => controller.abort(callTimedOut(tool, timeoutMs)), timeoutMs);
    },
    toFailure(thrown) {
      if (!signal.aborted) return AppError.from(thrown);
      if (AppError.is(signal.reason)) return signal.reason;
      return new AppError('E_CANCELLED', 'the call was cancelled', { cause: thrown });
    },
  };
  const release = () => {
    clearTimeout(timer);
    outputs.delete(id);
  };
  return { call, release };
}

function callTimedOut(tool: string, timeoutMs: number): AppError {
  return new AppError('E_TIMEOUT', `${tool} took longer than ${timeoutMs / 1000} s`, { details: { timeoutMs } });
}
