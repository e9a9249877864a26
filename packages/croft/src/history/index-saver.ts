import { setImmediate } from 'node:timers/promises';
import type { IndexFile, IndexMeta } from './index-file.ts';
import type { TreeIndex } from './tree-index.ts';

/** When nobody needs the tree. */
export type InTurn = (work: () => void) => Promise<void>;

/** So few that whoever comes meanwhile waits for less than a millisecond. */
const savedAtOnce = 100;

/** Writes down what was read since, a little at a time. */
export function createSaver(index: TreeIndex, file: IndexFile | undefined, meta: () => IndexMeta) {
  let isStopped = false;

  function saveSome(): void {
    const [removed, taken] = [takeSome(index.removed), takeSome(index.unsaved)];
    if (isStopped || removed.length + taken.length === 0) return;
    // What may have changed without it showing is not to be believed by the next start.
    const leaves = taken.map((leaf) => (index.racy.has(leaf) ? { ...leaf, isFresh: false } : leaf));
    file?.save(leaves, removed, meta());
    // It is told again when it is known; and one that is still on its way to the store, when it is there.
    for (const leaf of taken) if (index.racy.has(leaf) || (leaf.isFresh && !leaf.isKept)) index.unsaved.add(leaf);
  }

  return {
    async save(inTurn: InTurn): Promise<void> {
      const count = Math.max(index.unsaved.size, index.removed.size);
      for (let done = 0; done < count && !isStopped; done += savedAtOnce) {
        await inTurn(saveSome);
        await setImmediate();
      }
    },
    stop(): void {
      isStopped = true;
    },
  };
}

/** Those that are in it for the longest. */
function takeSome<T>(all: Set<T>): T[] {
  const some: T[] = [];
  for (const one of all) {
    if (some.length === savedAtOnce) break;
    some.push(one);
    all.delete(one);
  }
  return some;
}
