import type { WorkingTree } from '../core/history/working-tree.ts';
import { createFollowedBase, type FollowedBase } from './followed-base.ts';
import type { Bases } from './fork-bases.ts';
import { createHolder, type Holder } from './layer-holds.ts';

export interface FollowedPlace {
  readonly tree: WorkingTree;
  /** An open handle of the workspace, for as long as its tree is. */
  readonly live: number;
  readonly bases: Bases;
}

export type FollowedBases = ReturnType<typeof createFollowedBases>;

/** One for each workspace that is open, whoever forks it: what one has looked at and copied, the next need not. */
export function createFollowedBases() {
  // Nothing here keeps a tree that was closed.
  const known = new WeakMap<WorkingTree, FollowedBase>();
  const holders = new Map<string, Holder>();

  function forget(key: string): void {
    holders.get(key)?.release();
    holders.delete(key);
  }

  return {
    of(key: string, { tree, live, bases }: FollowedPlace): FollowedBase {
      const found = known.get(tree);
      if (found) return found;
      // Of when it was open the last time.
      forget(key);
      const holder = createHolder();
      const base = createFollowedBase({ bases, live, tree, holder });
      holders.set(key, holder);
      known.set(tree, base);
      return base;
    },
    /** Whether the workspace of that key is open, and was forked since it is. */
    has: (key: string): boolean => holders.has(key),
    /** What it holds may be taken away. */
    forget,
  };
}
