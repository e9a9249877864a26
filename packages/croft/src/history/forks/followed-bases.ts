import type { WorkingTree } from '../../core/history/ports/working-tree.ts';
import { createFollowedBase, type FollowedBase } from './followed-base.ts';
import type { ForkBases } from './fork-bases.ts';
import { createLayerPins, type LayerPins } from './layer-pins.ts';

interface FollowedWorkspace {
  readonly tree: WorkingTree;
  /** Descriptor of the workspace, open as long as its tree. */
  readonly workspaceFd: number;
  readonly bases: ForkBases;
}

export type FollowedBases = ReturnType<typeof createFollowedBases>;

/** One followed base per open workspace, shared by all who fork it, so that scans and copies are reused. */
export function createFollowedBases() {
  // Weak, so that a closed tree is not kept in memory.
  const known = new WeakMap<WorkingTree, FollowedBase>();
  const pinsByKey = new Map<string, LayerPins>();

  function forget(key: string): void {
    pinsByKey.get(key)?.release();
    pinsByKey.delete(key);
  }

  return {
    of(key: string, { tree, workspaceFd, bases }: FollowedWorkspace): FollowedBase {
      const found = known.get(tree);
      if (found) return found;
      // Releases layers that an earlier opening of the workspace pinned.
      forget(key);
      const pins = createLayerPins();
      const base = createFollowedBase({ bases, workspaceFd, tree, pins });
      pinsByKey.set(key, pins);
      known.set(tree, base);
      return base;
    },
    /** Whether the workspace of that key is open and was forked since it was opened. */
    has: (key: string): boolean => pinsByKey.has(key),
    /** Releases the pinned layers, which may then be deleted. */
    forget,
  };
}
