import type { WorkingTree } from '../../src/core/history/ports/working-tree.ts';
import { findInit } from '../../src/init/find-init.ts';
import { createFollower } from '../../src/init/follower.ts';

export const scope = 'all';

export const follow = () => createFollower(findInit);

export async function paths(tree: WorkingTree, root: string): Promise<string[]> {
  return (await Array.fromAsync(tree.entries(root))).map(({ path }) => path);
}
