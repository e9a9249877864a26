import type { HistoryStore } from '../../core/history/ports/history-store.ts';
import type { TreeHash } from '../../core/history/ports/tree.ts';

const maxPins = 32;

/**
 * Wraps the store for the users of a tree. Garbage collection keeps the trees captured last, even if no note names them
 * yet, and nothing is captured while a collection begins.
 */
export function pinCapturedTrees(store: HistoryStore, around: (begin: () => Promise<unknown>) => Promise<unknown>) {
  const pins = new Set<TreeHash>();
  const pinned: HistoryStore = {
    quota: store.quota,
    findMissing: (hashes) => store.findMissing(hashes),
    put: (contents, notes) => store.put(contents, notes),
    read: (hash) => store.read(hash),
    open: (hash) => store.open(hash),
    note: (kind, name) => store.note(kind, name),
    notes: (kind) => store.notes(kind),
    dropNotes: (kind, names) => store.dropNotes(kind, names),
    async collectGarbage(live, dropped = []) {
      let collecting = Promise.resolve(0);
      await around(async () => {
        const newest = [...pins].at(-1);
        for (const root of dropped) if (root !== newest) pins.delete(root);
        const begun = Promise.withResolvers<void>();
        collecting = store.collectGarbage([...live, ...pins], [], begun.resolve);
        // When the quota is nearly full, captures wait for the whole collection: their contents could not be stored
        // meanwhile.
        await (store.quota?.isNearlyFull() ? collecting : Promise.race([begun.promise, collecting]));
      });
      return collecting;
    },
    size: () => store.size(),
    ...(store.grownSinceCollection && { grownSinceCollection: store.grownSinceCollection }),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
  return {
    pinned,
    pin(root: TreeHash): TreeHash {
      pins.delete(root);
      pins.add(root);
      for (const oldest of pins) {
        if (pins.size <= maxPins) break;
        pins.delete(oldest);
      }
      return root;
    },
  };
}
