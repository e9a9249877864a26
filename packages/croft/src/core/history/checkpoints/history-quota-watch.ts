import type { FileReplacement } from '../../files/files.ts';
import type { OnNotUndoable } from '../ports/history.ts';
import type { HistoryStore } from '../ports/history-store.ts';

interface NotUndoableCallsOptions {
  readonly store: Pick<HistoryStore, 'quota'>;
  /** Larger files are never stored, whatever the quota. */
  readonly maxFileBytes: number;
}

/** Detects calls whose changes did not fit into the quota of the history. */
export function createHistoryQuotaWatch({ store: { quota }, maxFileBytes }: NotUndoableCallsOptions) {
  const sizeOf = (size = 0) => (size <= maxFileBytes ? size : 0);
  return {
    /** Wraps a call and the capture after it. */
    async watching<T>(work: () => Promise<T>, onNotUndoable: OnNotUndoable | undefined): Promise<T> {
      const leftOut = quota?.droppedContents;
      try {
        return await work();
      } finally {
        if (quota && quota.droppedContents !== leftOut) onNotUndoable?.(quota.reason());
      }
    },
    /**
     * Checks the quota for reported changes. They are written after the answer, but the answer already says whether
     * they fit.
     */
    checkReported(replacements: readonly FileReplacement[], onNotUndoable: OnNotUndoable | undefined): void {
      const sizes = replacements.map(({ before, after }) => sizeOf(before?.size) + sizeOf(after.size));
      const bytes = sizes.reduce((total, size) => total + size, 0);
      if (quota && bytes > Math.max(0, quota.bytesLeft())) onNotUndoable?.(quota.reason());
    },
  };
}
