import type { CaptureOptions } from '../../core/history/ports/working-tree.ts';
import type { TreeIndex } from '../tree/tree-index.ts';

const filesPerReport = 100;

/**
 * Returns a function to call per file read. Counting the files to read takes a pass over the whole index, so it is done
 * only if `onProgress` is given.
 */
export function createCaptureProgress(index: TreeIndex, { onProgress }: CaptureOptions): () => void {
  if (!onProgress) return () => {};
  const leaves = [...index.directories.values()].flatMap(({ children }) => [...children.values()]);
  const total = leaves.filter((node) => node.kind !== 'directory' && !(node.isFresh && node.isStored)).length;
  let done = 0;
  return () => {
    done += 1;
    if (done % filesPerReport === 0) onProgress(Math.min(done, total), total);
  };
}
