import { emptyRoot, type Root } from './tree.ts';
import type { WorkingTree } from './working-tree.ts';

export interface Totals {
  readonly root: Root;
  readonly files: number;
  readonly bytes: number;
}

/** How much is in a tree, from what was in another: costs what differs between them. */
export async function countFrom(tree: WorkingTree, root: Root, other: Totals | undefined): Promise<Totals> {
  let { files, bytes } = other ?? { files: 0, bytes: 0 };
  for (const { before, after } of await tree.diff(other?.root ?? emptyRoot, root)) {
    if (before && before.kind !== 'directory') [files, bytes] = [files - 1, bytes - before.size];
    if (after && after.kind !== 'directory') [files, bytes] = [files + 1, bytes + after.size];
  }
  return { root, files, bytes };
}
