import type { History } from './history.ts';

/**
 * A history that `open` opens when somebody first needs it, and answers from then on. A call whose history cannot be opened goes on without one; who
 * asks for it is told why there is none.
 */
export function openLazily(open: () => Promise<History>, onWarning: (message: string) => void): History {
  const orNone = () =>
    open().catch((thrown) => {
      onWarning(`the history of a workspace cannot be opened: ${thrown}`);
      return undefined;
    });
  return {
    snapshot: async (wanted) => (await open()).snapshot(wanted),
    snapshots: async () => (await open()).snapshots(),
    diff: async (wanted) => (await open()).diff(wanted),
    restore: async (target, signal) => (await open()).restore(target, signal),
    remove: async (name) => (await open()).remove(name),
    async record(call, work) {
      const history = await orNone();
      return history ? history.record(call, work) : work();
    },
    async recordTold(call, work) {
      const history = await orNone();
      return history ? history.recordTold(call, work) : work();
    },
    checkpoints: async (limit) => (await open()).checkpoints(limit),
    undo: async (target, signal) => (await open()).undo(target, signal),
    look: async () => (await orNone())?.look(),
    learned: async (check, of) => (await orNone())?.learned(check, of),
  };
}
