import { closeSync } from 'node:fs';
import type { HistoryStore } from '../core/history/store.ts';
import type { TreePath } from '../core/history/tree.ts';
import type { CaptureOptions } from '../core/history/working-tree.ts';
import { type Keeping, keepLarge } from './keeping.ts';
import type { OpenDirectories } from './open-directories.ts';
import { hashLarge } from './read-large.ts';
import { meaningOf, openLeaf, type ReadLeaf, readLeaf, type Unread } from './read-leaf.ts';
import type { TreeIndex } from './tree-index.ts';
import { type LeafNode, learn, treePathOf } from './tree-nodes.ts';

/** One that is not kept is not read either if it is larger: a file of holes has any size at no cost. */
const maxHashedBytes = 4 * 1024 * 1024 * 1024;
/** As coarse as the clock of a file system may be. */
const tickNs = 10_000_000n;

export interface LeafReader {
  /** Reads and keeps it. False if that could not be done, so that it has to be tried again. */
  read(leaf: LeafNode): Promise<boolean>;
  /** Whether its content is not to be kept, so that its hash is all there is to know. */
  isLeftOut(leaf: LeafNode): boolean;
  /** The bytes of a small file, unless they still have this hash. */
  readRules(leaf: LeafNode, unlessHash: string | undefined): Promise<Buffer | undefined>;
}

export interface LeafReaderMeans {
  readonly index: TreeIndex;
  readonly store: HistoryStore;
  readonly keeping: Keeping;
  readonly directories: OpenDirectories;
  readonly unkept: Set<LeafNode>;
  readonly atNs: bigint;
  readonly options: CaptureOptions;
  readonly missed: Set<TreePath>;
}

export function createLeafReader(means: LeafReaderMeans): LeafReader {
  const { index, store, keeping, unkept, options, missed } = means;
  const maxBytes = options.maxFileBytes ?? Number.POSITIVE_INFINITY;

  function take(leaf: LeafNode, { entry, identity }: ReadLeaf): void {
    learn(leaf, entry, identity);
    index.unsaved.add(leaf);
    if (identity.ctimeNs >= means.atNs - tickNs) index.racy.add(leaf);
    else index.racy.delete(leaf);
  }

  function giveUp(leaf: LeafNode, reason: Unread): boolean {
    // What is gone will be seen to be; what is there and cannot be read is told.
    if (reason === 'gone') index.drop(leaf);
    else missed.add(treePathOf(leaf));
    return false;
  }

  async function readLarge(leaf: LeafNode): Promise<boolean> {
    const handle = openLarge(means.directories, leaf);
    if (typeof handle === 'string') return giveUp(leaf, handle);
    try {
      const found = await hashLarge(handle, options.signal);
      if (typeof found === 'string') return giveUp(leaf, found);
      take(leaf, found);
      if (found.entry.size > maxBytes) return leaveOut(leaf);
      if (!(await keepLarge(store, handle, found))) return giveUp(leaf, 'changing');
      leaf.isKept = true;
      unkept.delete(leaf);
      return true;
    } finally {
      closeSync(handle);
    }
  }

  /** It is in the tree, but nobody can have it back. */
  function leaveOut(leaf: LeafNode): boolean {
    unkept.add(leaf);
    return true;
  }

  return {
    isLeftOut: (leaf) => unkept.has(leaf) && leaf.identity.size > maxBytes,
    async read(leaf) {
      if (leaf.identity.size > Math.max(maxBytes, maxHashedBytes)) return giveUp(leaf, 'unreadable');
      const found = readSmall(means.directories, leaf);
      if (found === 'large') return readLarge(leaf);
      if (typeof found === 'string') return giveUp(leaf, found);
      take(leaf, found);
      if (leaf.isKept || !found.bytes) return true;
      if (found.entry.size > maxBytes) return leaveOut(leaf);
      unkept.delete(leaf);
      keeping.add({ hash: found.entry.hash, size: found.entry.size, bytes: found.bytes }, leaf);
      return true;
    },
    async readRules(leaf, unlessHash) {
      if (leaf.isFresh && leaf.entry && leaf.entry.hash === unlessHash) return undefined;
      const found = readSmall(means.directories, leaf);
      if (typeof found === 'string') return undefined;
      take(leaf, found);
      return found.entry.hash === unlessHash ? undefined : found.bytes;
    },
  };
}

function readSmall(directories: OpenDirectories, { parent, name, kind }: LeafNode): ReadLeaf | Unread | 'large' {
  if (!parent) return 'gone';
  try {
    return readLeaf(directories.handleOf(parent), name, kind);
  } catch (thrown) {
    return meaningOf(thrown);
  }
}

function openLarge(directories: OpenDirectories, { parent, name }: LeafNode): number | Unread {
  if (!parent) return 'gone';
  try {
    return openLeaf(directories.handleOf(parent), name);
  } catch (thrown) {
    return meaningOf(thrown);
  }
}
