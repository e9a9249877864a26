import { emptyTreeHash, type PathChange, type TreeHash } from '../ports/tree.ts';
import type { WorkingTree } from '../ports/working-tree.ts';

/** Builds two trees that contain only the changed paths. The diff of the two trees is exactly `changes`. */
export async function changesToTrees(
  tree: Pick<WorkingTree, 'amend'>,
  changes: readonly PathChange[],
): Promise<{ before: TreeHash; after: TreeHash }> {
  const only = (side: 'before' | 'after') =>
    changes.flatMap(({ path, [side]: entry }) => (entry ? [{ path, after: entry }] : []));
  return {
    before: await tree.amend(emptyTreeHash, only('before')),
    after: await tree.amend(emptyTreeHash, only('after')),
  };
}
