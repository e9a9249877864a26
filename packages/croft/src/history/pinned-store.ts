import type { HistoryStore } from '../core/history/store.ts';
import type { Root } from '../core/history/tree.ts';

const maxPins = 32;

/**
 * The store as users of a tree have it: what was captured last stays when it collects, also if nobody has written down
 * yet that it is wanted, and nothing is captured meanwhile.
 */
export function pinRoots(store: HistoryStore, around: (collect: () => Promise<number>) => Promise<number>) {
  const pins = new Set<Root>();
  const pinned: HistoryStore = {
    lacks: (hashes) => store.lacks(hashes),
    keep: (contents, notes) => store.keep(contents, notes),
    read: (hash) => store.read(hash),
    open: (hash) => store.open(hash),
    note: (kind, name) => store.note(kind, name),
    notes: (kind) => store.notes(kind),
    dropNotes: (kind, names) => store.dropNotes(kind, names),
    collect: (live) => around(() => store.collect([...live, ...pins])),
    size: () => store.size(),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
  return {
    pinned,
    pin(root: Root): Root {
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
