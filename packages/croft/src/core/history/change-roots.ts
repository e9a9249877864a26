import { emptyRoot, type PathChange, type Root } from './tree.ts';
import type { WorkingTree } from './working-tree.ts';

/** Two trees that hold only what differs: whatever differs between them is exactly these changes again. */
export async function changesToRoots(
  tree: Pick<WorkingTree, 'amend'>,
  changes: readonly PathChange[],
): Promise<{ before: Root; after: Root }> {
  const only = (side: 'before' | 'after') =>
    changes.flatMap(({ path, [side]: entry }) => (entry ? [{ path, after: entry }] : []));
  return { before: await tree.amend(emptyRoot, only('before')), after: await tree.amend(emptyRoot, only('after')) };
}
