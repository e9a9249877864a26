import { closeSync, fstatSync } from 'node:fs';
import type { HistoryStore } from '../../core/history/ports/history-store.ts';
import type { TreePath } from '../../core/history/ports/tree.ts';
import type { CaptureOptions } from '../../core/history/ports/working-tree.ts';
import type { BackgroundHasher } from '../files/background-hasher.ts';
import { hashLargeFile } from '../files/hash-large-file.ts';
import type { NodeDirectoryFds } from '../files/node-directory-fds.ts';
import { holeBytesIn, openLeaf, type ReadLeaf, readLeaf, type Unread, unreadReasonOf } from '../files/read-leaf.ts';
import { historyFull } from '../store/history-quota.ts';
import type { TreeIndex } from '../tree/tree-index.ts';
import { type LeafNode, treePathOf } from '../tree/tree-nodes.ts';
import { type ContentBuffer, storeLargeFile } from './content-buffer.ts';

/** A file that is not stored is not even hashed above this size: a file of holes can have any size at no cost. */
const maxHashedBytes = 4 * 1024 * 1024 * 1024;
/** The coarsest clock of a file system. */
const tickNs = 10_000_000n;

export interface LeafReader {
  /** Reads a leaf and stores its content. Returns false if that failed and has to be tried again. */
  read(leaf: LeafNode): Promise<boolean>;
  /** Whether only the hash of the leaf is recorded, because its content is not to be stored. */
  isOnlyHashed(leaf: LeafNode): boolean;
  /** Returns the bytes of a small file, unless they still have this hash. */
  readRules(leaf: LeafNode, unlessHash: string | undefined): Promise<Buffer | undefined>;
}

interface LeafReaderDependencies {
  readonly index: TreeIndex;
  readonly store: HistoryStore;
  readonly buffer: ContentBuffer;
  readonly directories: NodeDirectoryFds;
  readonly unstored: Set<LeafNode>;
  readonly atNs: bigint;
  readonly options: CaptureOptions;
  readonly missed: Set<TreePath>;
  readonly lateHashes: BackgroundHasher;
  /** Receives the paths that an earlier capture did not wait for. */
  readonly late: Set<TreePath>;
}

export function createLeafReader(dependencies: LeafReaderDependencies): LeafReader {
  const { index, store, buffer, unstored, options, missed, lateHashes, late } = dependencies;
  const maxBytes = options.maxFileBytes ?? Number.POSITIVE_INFINITY;
  const mayTake = createHoleBudget(options.maxHoleBytes, maxBytes);

  const mayStore = (size: number) => size <= maxBytes && reserveQuota(store, size, options);
  const take = (leaf: LeafNode, found: ReadLeaf) => takeIn(index, leaf, found, dependencies.atNs);

  function giveUp(leaf: LeafNode, reason: Unread | 'later'): boolean {
    // The next scan notices an entry that is gone. An entry that cannot be read is reported in `missed`.
    if (reason === 'gone') index.drop(leaf);
    else missed.add(treePathOf(leaf));
    return false;
  }

  async function readLarge(leaf: LeafNode): Promise<boolean> {
    const handle = openLarge(dependencies.directories, leaf);
    if (typeof handle === 'string') return giveUp(leaf, handle);
    const known = lateHashes.find(leaf, handle);
    if (!mayTake(handle, known)) {
      lateHashes.add(leaf, handle);
      return giveUp(leaf, 'later');
    }
    try {
      const found = known ?? (await hashLargeFile(handle, options.signal));
      return typeof found === 'string' ? giveUp(leaf, found) : await takeLarge(leaf, handle, found);
    } finally {
      closeSync(handle);
    }
  }

  async function takeLarge(leaf: LeafNode, handle: number, found: ReadLeaf): Promise<boolean> {
    if (lateHashes.drop(leaf)) late.add(treePathOf(leaf));
    take(leaf, found);
    if (!mayStore(found.entry.size)) return leaveOut(leaf);
    if (!(await storeLargeFile(store, handle, found))) return giveUp(leaf, 'changing');
    leaf.isStored = true;
    unstored.delete(leaf);
    return true;
  }

  /** The leaf is in the tree, but its content cannot be restored. */
  function leaveOut(leaf: LeafNode): boolean {
    unstored.add(leaf);
    return true;
  }

  return {
    isOnlyHashed: (leaf) => unstored.has(leaf) && !couldStore(leaf, store, options),
    async read(leaf) {
      if (leaf.identity.size > Math.max(maxBytes, maxHashedBytes)) return giveUp(leaf, 'unreadable');
      const found = readSmall(dependencies.directories, leaf);
      if (found === 'large') return readLarge(leaf);
      if (typeof found === 'string') return giveUp(leaf, found);
      take(leaf, found);
      if (leaf.isStored || !found.bytes) return true;
      if (!mayStore(found.entry.size)) return leaveOut(leaf);
      unstored.delete(leaf);
      buffer.add({ hash: found.entry.hash, size: found.entry.size, bytes: found.bytes }, leaf);
      return true;
    },
    async readRules(leaf, unlessHash) {
      if (leaf.isFresh && leaf.entry && leaf.entry.hash === unlessHash) return undefined;
      const found = readSmall(dependencies.directories, leaf);
      if (typeof found === 'string') return undefined;
      take(leaf, found);
      return found.entry.hash === unlessHash ? undefined : found.bytes;
    },
  };
}

/**
 * Reserves quota. An explicit request (no `maxFileBytes`) throws if the content does not fit; an automatic capture
 * leaves the content out.
 */
function reserveQuota({ quota }: HistoryStore, size: number, { maxFileBytes }: CaptureOptions): boolean {
  if (!quota || quota.reserve(size)) return true;
  if (maxFileBytes === undefined) throw historyFull(quota);
  return false;
}

/** Whether reading the leaf again is worthwhile: a content that was left out because of the quota may fit by now. */
export function couldStore(
  { identity: { size } }: LeafNode,
  { quota }: Pick<HistoryStore, 'quota'>,
  { maxFileBytes }: Pick<CaptureOptions, 'maxFileBytes'>,
): boolean {
  return maxFileBytes === undefined || (size <= maxFileBytes && (!quota || quota.bytesLeft() >= size));
}

/**
 * Records the content of a file. A file that was written right before it was read is racy: it may have been written
 * again without a trace.
 */
function takeIn(index: TreeIndex, leaf: LeafNode, { entry, identity }: ReadLeaf, atNs: bigint): void {
  index.recordRead(leaf, entry, identity);
  if (identity.ctimeNs >= atNs - tickNs) index.racy.add(leaf);
  else index.racy.delete(leaf);
}

/**
 * Whether the holes of a file fit into the budget. A file whose hash is known and whose content is not stored takes
 * none.
 */
function createHoleBudget(maxHoleBytes = Number.POSITIVE_INFINITY, maxBytes: number) {
  let left = maxHoleBytes;
  return (fd: number, known: ReadLeaf | undefined): boolean => {
    const stats = fstatSync(fd, { bigint: true });
    const holes = known && Number(stats.size) > maxBytes ? 0 : holeBytesIn(fd, stats);
    if (holes > left) return false;
    left -= holes;
    return true;
  };
}

function readSmall(directories: NodeDirectoryFds, { parent, name, kind }: LeafNode): ReadLeaf | Unread | 'large' {
  if (!parent) return 'gone';
  try {
    return readLeaf(directories.fdOf(parent), name, kind);
  } catch (thrown) {
    return unreadReasonOf(thrown);
  }
}

function openLarge(directories: NodeDirectoryFds, { parent, name }: LeafNode): number | Unread {
  if (!parent) return 'gone';
  try {
    return openLeaf(directories.fdOf(parent), name);
  } catch (thrown) {
    return unreadReasonOf(thrown);
  }
}
