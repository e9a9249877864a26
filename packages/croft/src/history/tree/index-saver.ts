import { setImmediate } from 'node:timers/promises';
import type { IndexFile, IndexMeta } from './index-file.ts';
import type { TreeIndex } from './tree-index.ts';

/** Runs `work` while no operation uses the tree. */
export type RunWhenIdle = (work: () => void) => Promise<void>;

/** Rows saved at once: few enough that no caller waits for more than a millisecond. */
const savedAtOnce = 100;

/** Saves the files read since the last time, a few at a time. */
export function createIndexSaver(index: TreeIndex, file: IndexFile | undefined, meta: () => IndexMeta) {
  let isStopped = false;

  function saveSome(): void {
    const [removed, taken] = [takeSome(index.removed), takeSome(index.unsaved)];
    if (isStopped || removed.length + taken.length === 0) return;
    // A racy file may have changed without a trace, so the next start must not trust it.
    const leaves = taken.map((leaf) => (index.racy.has(leaf) ? { ...leaf, isFresh: false } : leaf));
    file?.save(leaves, removed, meta());
    // Racy files, and files whose content is not in the store yet, are saved again later.
    for (const leaf of taken) if (index.racy.has(leaf) || (leaf.isFresh && !leaf.isStored)) index.unsaved.add(leaf);
  }

  return {
    async save(inTurn: RunWhenIdle, withinMs = Number.POSITIVE_INFINITY): Promise<void> {
      const until = performance.now() + withinMs;
      const count = Math.max(index.unsaved.size, index.removed.size);
      for (let done = 0; done < count && !isStopped && performance.now() < until; done += savedAtOnce) {
        await inTurn(saveSome);
        await setImmediate();
      }
    },
    stop(): void {
      isStopped = true;
    },
  };
}

/** Takes the entries that have been in the set for the longest time. */
function takeSome<T>(all: Set<T>): T[] {
  const some: T[] = [];
  for (const one of all) {
    if (some.length === savedAtOnce) break;
    some.push(one);
    all.delete(one);
  }
  return some;
}
