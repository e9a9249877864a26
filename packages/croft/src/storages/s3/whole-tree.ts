import type { WorkingTree } from '../../core/history/working-tree.ts';
import type { Holes } from './holes.ts';

/** The tree for whoever keeps contents: what is only named so far has none yet. */
export function createWholeTree(tree: WorkingTree, holes: Holes): WorkingTree {
  const whole =
    <Rest extends unknown[], T>(work: (...rest: Rest) => Promise<T>) =>
    async (...rest: Rest): Promise<T> => {
      await holes.materialize(undefined);
      return work(...rest);
    };
  return {
    store: tree.store,
    capture: whole((options) => tree.capture(options)),
    apply: whole((changes, options) => tree.apply(changes, options)),
    diff: (before, after) => tree.diff(before, after),
    entry: (root, path) => tree.entry(root, path),
    entries: (root) => tree.entries(root),
    amend: (root, changes) => tree.amend(root, changes),
    draft: (root, change) => tree.draft(root, change),
    isOfSource: (path) => tree.isOfSource(path),
    totals: () => tree.totals(),
    touchedSince: (asker) => tree.touchedSince(asker),
    watch: (onChange, signal) => tree.watch(onChange, signal),
    [Symbol.asyncDispose]: () => tree[Symbol.asyncDispose](),
  };
}
