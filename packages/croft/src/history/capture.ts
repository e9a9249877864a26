import type { HistoryStore } from '../core/history/store.ts';
import type { TreePath } from '../core/history/tree.ts';
import type { Captured, CaptureOptions } from '../core/history/working-tree.ts';
import { createProgress, createTurns } from './capture-pace.ts';
import { createKeeping } from './keeping.ts';
import { createLeafReader } from './leaf-reader.ts';
import { type Capture, listDirectory, readNow } from './list-directory.ts';
import type { Listings } from './listings.ts';
import { createOpenDirectories } from './open-directories.ts';
import { isReached } from './scopes.ts';
import type { TreeIndex } from './tree-index.ts';
import { type LeafNode, markDirty, pathOf, treePathOf } from './tree-nodes.ts';

export interface CaptureMeans {
  readonly index: TreeIndex;
  readonly store: HistoryStore;
  readonly listings: Listings;
  readonly root: number;
  /** Files whose content the store does not have, because it is too large. */
  readonly unkept: Set<LeafNode>;
  /** The kernel's clock before the tree was looked at. */
  readonly atNs: bigint;
}

/** Reads what is not known, keeps it, and the listings of the directories it is in. */
export async function captureTree(means: CaptureMeans, options: CaptureOptions): Promise<Captured> {
  using directories = createOpenDirectories(means.root);
  const { index, store, listings, unkept, atNs } = means;
  const { scope, maxFileBytes = Number.POSITIVE_INFINITY } = options;
  const keeping = createKeeping(store);
  const missed = new Set<TreePath>();
  for (const leaf of unkept) {
    if (index.find(pathOf(leaf)) !== leaf) unkept.delete(leaf);
    else if (leaf.identity.size <= maxFileBytes) markDirty(leaf.parent);
  }
  const turn = createTurns(options.signal);
  const reader = createLeafReader({ index, store, keeping, directories, unkept, atNs, options, missed });
  const tell = createProgress(index, options);
  const capture: Capture = { scope, keeping, reader, listings, missed, listed: [], turn, tell };
  await readRacy(index, capture);
  const { hash, files, bytes } = index.root.listings.get(scope) ?? (await listDirectory(capture, index.root));
  await keeping.flush();
  for (const { node, known } of capture.listed) node.listings.set(scope, known);
  for (const leaf of unkept) if (isReached(leaf, scope)) missed.add(treePathOf(leaf));
  return { root: hash, files, bytes, missed: [...missed] };
}

/** Once the clock has moved on, what is read is what stays, or a change of it shows. */
async function readRacy(index: TreeIndex, capture: Capture): Promise<void> {
  const racy = [...index.racy];
  for (const leaf of racy) leaf.isFresh = false;
  for (const leaf of racy) if (isReached(leaf, capture.scope)) await readNow(capture, leaf);
}
