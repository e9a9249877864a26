import type { HistoryStore } from '../../core/history/ports/history-store.ts';
import type { TreePath } from '../../core/history/ports/tree.ts';
import type { Captured, CaptureOptions } from '../../core/history/ports/working-tree.ts';
import { createTurns } from '../../lib/concurrency/turns.ts';
import type { BackgroundHasher } from '../files/background-hasher.ts';
import { createNodeDirectoryFds } from '../files/node-directory-fds.ts';
import { isInScope } from '../tree/is-in-scope.ts';
import type { ListingCache } from '../tree/listing-cache.ts';
import type { TreeIndex } from '../tree/tree-index.ts';
import { type LeafNode, markDirty, pathOf, treePathOf } from '../tree/tree-nodes.ts';
import { type CaptureState, captureDirectory, readNow } from './capture-directory.ts';
import { createCaptureProgress } from './capture-progress.ts';
import { createContentBuffer } from './content-buffer.ts';
import { couldStore, createLeafReader } from './leaf-reader.ts';

interface CaptureDependencies {
  readonly index: TreeIndex;
  readonly store: HistoryStore;
  readonly listings: ListingCache;
  readonly rootFd: number;
  /** Files whose content is not in the store, because it is too large or exceeds the quota. */
  readonly unstored: Set<LeafNode>;
  readonly lateHashes: BackgroundHasher;
  /** The kernel's clock before the tree was scanned. */
  readonly atNs: bigint;
}

/**
 * Reads the files that changed, stores their contents and the listings of their directories, and returns the hash of
 * the tree.
 */
export async function captureTree(dependencies: CaptureDependencies, options: CaptureOptions): Promise<Captured> {
  using directories = createNodeDirectoryFds(dependencies.rootFd);
  const { index, store, listings, unstored, lateHashes, atNs } = dependencies;
  const { scope } = options;
  const buffer = createContentBuffer(store);
  const [missed, late, cutRules] = [new Set<TreePath>(), new Set<TreePath>(), new Set<TreePath>()];
  lateHashes.keepOnly((leaf) => index.find(pathOf(leaf)) === leaf);
  for (const leaf of unstored) {
    if (index.find(pathOf(leaf)) !== leaf) unstored.delete(leaf);
    else if (couldStore(leaf, store, options)) markDirty(leaf.parent);
  }
  const turn = createTurns(options.signal);
  const reader = createLeafReader({
    ...{ index, store, buffer, directories, unstored, atNs, options, missed, lateHashes, late },
  });
  const countRead = createCaptureProgress(index, options);
  const capture: CaptureState = { scope, buffer, reader, listings, missed, cutRules, listed: [], turn, countRead };
  await readRacy(index, capture);
  const { hash, files, bytes } = index.root.listings.get(scope) ?? (await captureDirectory(capture, index.root));
  await buffer.flush();
  for (const { node, known } of capture.listed) node.listings.set(scope, known);
  for (const leaf of unstored) if (isInScope(leaf, scope)) missed.add(treePathOf(leaf));
  return { root: hash, files, bytes, missed: [...missed], late: [...late], cutRules: [...cutRules] };
}

/** Reads racy files again. Once the clock has moved on, any later change of such a file shows in its times. */
async function readRacy(index: TreeIndex, capture: CaptureState): Promise<void> {
  const racy = [...index.racy];
  for (const leaf of racy) leaf.isFresh = false;
  for (const leaf of racy) if (isInScope(leaf, capture.scope)) await readNow(capture, leaf);
}
