import type { PathChange } from '../history/ports/tree.ts';
import type { WorkingTree } from '../history/ports/working-tree.ts';
import type { StorageUse } from './check-quota.ts';
import type { QuotaGuard } from './quota-guard.ts';

/** Wraps a working tree: restore, undo and merge are refused above the quota. */
export function guardTree(tree: WorkingTree, guard: () => QuotaGuard | undefined): WorkingTree {
  return {
    ...tree,
    apply(changes, options) {
      const judging = guard()?.judging;
      if (!judging) return tree.apply(changes, options);
      return judging((judge) => {
        judge(growthOf(changes));
        return tree.apply(changes, options);
      });
    },
  };
}

function growthOf(changes: readonly PathChange[]): StorageUse {
  const leaf = (entry: PathChange['after']) => (entry && entry.kind !== 'directory' ? entry : undefined);
  const sums = changes.map(({ before, after }) => ({
    bytes: (leaf(after)?.size ?? 0) - (leaf(before)?.size ?? 0),
    files: (leaf(after) ? 1 : 0) - (leaf(before) ? 1 : 0),
  }));
  return sums.reduce((all, one) => ({ bytes: all.bytes + one.bytes, files: all.files + one.files }), zero);
}

const zero: StorageUse = { bytes: 0, files: 0 };
