import { AppError } from '@croft/protocol';
import type { History } from './ports/history.ts';

/**
 * Returns a history that calls `open` for each method; `open` is expected to open once. If the history cannot be
 * opened, a call runs without one, and methods that ask for history throw the reason.
 */
export function createLazyHistory(open: () => Promise<History>, onWarning: (message: string) => void): History {
  const openOrWarn = () =>
    open().catch((thrown) => {
      onWarning(`the history of a workspace cannot be opened: ${thrown}`);
      return undefined;
    });
  const past = async () => {
    const { past: trees } = await open();
    if (!trees)
      throw new AppError('E_NOT_FOUND', 'the history of this workspace does not show earlier files', {
        hint: 'Fork the workspace from a snapshot, and read the files there.',
      });
    return trees;
  };
  return {
    past: {
      diffOf: async (...asked) => (await past()).diffOf(...asked),
      list: async (...asked) => (await past()).list(...asked),
      read: async (...asked) => (await past()).read(...asked),
    },
    snapshot: async (wanted) => (await open()).snapshot(wanted),
    snapshots: async () => (await open()).snapshots(),
    diff: async (wanted) => (await open()).diff(wanted),
    restore: async (target, signal) => (await open()).restore(target, signal),
    remove: async (name) => (await open()).remove(name),
    async record(call, work, onNotUndoable) {
      const history = await openOrWarn();
      return history ? history.record(call, work, onNotUndoable) : work();
    },
    async recordReported(call, work, onNotUndoable) {
      const history = await openOrWarn();
      return history ? history.recordReported(call, work, onNotUndoable) : work();
    },
    async recordCheck(call, work) {
      const history = await openOrWarn();
      return history ? history.recordCheck(call, work) : { result: await work(), altered: [], unverified: 'closed' };
    },
    revertChanges: async (changes) => (await open()).revertChanges(changes),
    checkpoints: async (limit) => (await open()).checkpoints(limit),
    undo: async (target, signal) => (await open()).undo(target, signal),
    captureSource: async () => (await openOrWarn())?.captureSource(),
    recordVerdict: async (check, of) => (await openOrWarn())?.recordVerdict(check, of),
  };
}
