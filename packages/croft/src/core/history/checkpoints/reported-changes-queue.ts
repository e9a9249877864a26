import type { ReportedChange } from './reported-checkpoints.ts';

/** Reports that arrive within this time are written together, which costs little more than one write. */
const restMs = 25;
/** Limits of the buffer, which holds the old and the new contents in memory. */
const maxWaiting = 16;
const maxWaitingBytes = 4 * 1024 * 1024;

/**
 * Buffers changes reported by `write` and `edit`, and turns them into checkpoints after 25 ms, when the buffer is full,
 * or before anyone reads the history. `onFailure` receives errors; the calls themselves do not fail.
 */
export function createReportedChangesQueue(
  noteAll: (reported: readonly ReportedChange[]) => Promise<void>,
  onFailure: (thrown: unknown) => void,
) {
  let waiting: ReportedChange[] = [];
  let [bytes, timer]: [number, NodeJS.Timeout | undefined] = [0, undefined];
  let last = Promise.resolve();

  /** Resolves when all changes reported so far are written. */
  function flush(): Promise<void> {
    clearTimeout(timer);
    const reported = waiting;
    [waiting, bytes, timer] = [[], 0, undefined];
    if (reported.length > 0) last = last.then(() => noteAll(reported)).catch(onFailure);
    return last;
  }

  return {
    /** Runs `noteAll` without new reports, for checkpoints that have to be checked again. */
    retry(): void {
      last = last.then(() => noteAll([])).catch(onFailure);
    },
    add(reported: readonly ReportedChange[]): void {
      waiting.push(...reported);
      for (const { replacement } of reported) bytes += sizeOf(replacement.before) + sizeOf(replacement.after);
      if (waiting.length > 0) timer ??= setTimeout(flush, restMs).unref();
    },
    /** Waits until the buffer has capacity. */
    async waitForCapacity(): Promise<void> {
      if (waiting.length >= maxWaiting || bytes >= maxWaitingBytes) await flush();
    },
    settle: flush,
  };
}

function sizeOf(state: { readonly bytes?: Uint8Array | undefined } | undefined): number {
  return state?.bytes?.byteLength ?? 0;
}
