import { setImmediate } from 'node:timers/promises';
import type { CaptureOptions } from '../core/history/working-tree.ts';
import type { TreeIndex } from './tree-index.ts';

/** Longer than this nobody else waits for their turn. */
const turnMs = 8;
const filesPerWord = 100;

export function createTurns(signal: AbortSignal | undefined): () => Promise<void> {
  let began = performance.now();
  return async () => {
    if (performance.now() - began < turnMs) return;
    await setImmediate();
    signal?.throwIfAborted();
    began = performance.now();
  };
}

/** Counting what there is to be read takes a look at everything, which is done only for who wants to know. */
export function createProgress(index: TreeIndex, { onProgress }: CaptureOptions): () => void {
  if (!onProgress) return () => {};
  const leaves = [...index.directories.values()].flatMap(({ children }) => [...children.values()]);
  const total = leaves.filter((node) => node.kind !== 'directory' && !(node.isFresh && node.isKept)).length;
  let done = 0;
  return () => {
    done += 1;
    if (done % filesPerWord === 0) onProgress(Math.min(done, total), total);
  };
}
