import type { Told } from './told-notes.ts';

/** Those that come within this time are noted together, which costs little more than one. */
const restMs = 25;
/** What waits is held in memory, with what was there before it. */
const maxWaiting = 16;
const maxWaitingBytes = 4 * 1024 * 1024;

/**
 * What calls told, until it is noted: soon after, when their answers have left, or as soon as somebody wants to know.
 * What goes wrong with it is said, and no failure of theirs.
 */
export function createToldQueue(
  noteAll: (told: readonly Told[]) => Promise<void>,
  onFailure: (thrown: unknown) => void,
) {
  let waiting: Told[] = [];
  let [bytes, timer]: [number, NodeJS.Timeout | undefined] = [0, undefined];
  let last = Promise.resolve();

  /** When all that was told until now is noted. */
  function settle(): Promise<void> {
    clearTimeout(timer);
    const told = waiting;
    [waiting, bytes, timer] = [[], 0, undefined];
    if (told.length > 0) last = last.then(() => noteAll(told)).catch(onFailure);
    return last;
  }

  return {
    add(told: readonly Told[]): void {
      waiting.push(...told);
      for (const { replacement } of told) bytes += sizeOf(replacement.before) + sizeOf(replacement.after);
      if (waiting.length > 0) timer ??= setTimeout(settle, restMs).unref();
    },
    /** When there is room for more. */
    async room(): Promise<void> {
      if (waiting.length >= maxWaiting || bytes >= maxWaitingBytes) await settle();
    },
    settle,
  };
}

function sizeOf(state: { readonly bytes?: Uint8Array | undefined } | undefined): number {
  return state?.bytes?.byteLength ?? 0;
}
