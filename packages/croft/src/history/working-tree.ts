import { closeSync } from 'node:fs';
import type { HistoryStore } from '../core/history/ports/history-store.ts';
import {
  type CaptureOptions,
  maxStoredFileBytes,
  TreeClosed,
  type WorkingTree,
} from '../core/history/ports/working-tree.ts';
import { toRaw } from '../core/history/trees/raw-names.ts';
import { serializeGitChanges } from '../disk/control-files/serialize-git-changes.ts';
import { reopenDirectory } from '../disk/paths/handles.ts';
import type { FollowedChanges, FollowedTree, Follower, Sighting } from '../init/followed-tree.ts';
import { createKeyedLock } from '../lib/concurrency/keyed-lock.ts';
import { once } from '../lib/concurrency/once.ts';
import { applyChanges } from './apply/apply-changes.ts';
import { markMoment, removeFilesMadeSince } from './apply/remove-files-made-since.ts';
import { captureTree } from './capture/capture-tree.ts';
import { createBackgroundHasher } from './files/background-hasher.ts';
import { pinCapturedTrees } from './store/pin-captured-trees.ts';
import { amendTree, splitTreePath } from './tree/amend-tree.ts';
import { diffTrees, entriesOf, entryAt } from './tree/diff-trees.ts';
import { isSourceFile } from './tree/is-source-file.ts';
import { createListingCache } from './tree/listing-cache.ts';
import { openSavedIndex, type SavedIndex } from './tree/saved-index.ts';
import { createTouchedPaths } from './tree/touched-paths.ts';
import { TreeIndex } from './tree/tree-index.ts';
import type { LeafNode } from './tree/tree-nodes.ts';
import { watchTree } from './tree/watch-tree.ts';

export interface WorkingTreeOptions {
  /** Descriptor of the root. It stays the caller's. */
  readonly directoryFd: number;
  /** Path of the root, for messages. */
  readonly directory?: string | undefined;
  /** Names of control files that the operator allows to change. Without it, none. */
  readonly allowControl?: readonly string[] | undefined;
  readonly store: HistoryStore;
  readonly follower: Follower;
  /**
   * File for the saved index, so that the next start does not read every file again. Without it, the next start does.
   */
  readonly state?: string | undefined;
}

const saveMs = 500;

export async function openWorkingTree(options: WorkingTreeOptions): Promise<WorkingTree> {
  const { store, state } = options;
  const rootFd = reopenDirectory(options.directoryFd);
  const index = new TreeIndex();
  let savedIndex: SavedIndex | undefined;
  try {
    savedIndex = await openSavedIndex({ index, store, rootFd, state });
    const following = await options.follower.open(rootFd);
    return createWorkingTree({ ...options, directoryFd: rootFd }, { index, savedIndex, following });
  } catch (thrown) {
    await savedIndex?.close();
    closeSync(rootFd);
    throw thrown;
  }
}

interface Opened {
  readonly index: TreeIndex;
  readonly savedIndex: SavedIndex;
  readonly following: FollowedTree;
}

function createWorkingTree(options: WorkingTreeOptions, { index, savedIndex, following }: Opened): WorkingTree {
  const { directoryFd: rootFd, store, directory, allowControl } = options;
  const [listingCache, touches, unstored] = [createListingCache(store), createTouchedPaths(), new Set<LeafNode>()];
  const [lock, lateHashes, names] = [createKeyedLock(), createBackgroundHasher(), directory ? [directory] : []];
  const alone = <T>(work: () => Promise<T>) => lock.run('tree', work);
  const { pinned, pin } = pinCapturedTrees(store, (begin) => alone(() => savedIndex.startCollection(begin)));
  const saving = createSaving(() => savedIndex.save((work) => alone(async () => work())));
  const [totals, closing] = [createTotals(index), createClosing(following)];
  const scan = createScan({ following, index, touches, savedIndex, signal: closing.signal }, saving.soon);

  const capture: WorkingTree['capture'] = async (wanted) => {
    wanted.signal?.throwIfAborted();
    const { atNs, isPolled } = await scan(wanted.onFound);
    await savedIndex.checkStore();
    const parts = { index, store, listings: listingCache, rootFd, unstored, lateHashes, atNs };
    const captured = await captureTree(parts, { ...wanted, signal: closing.or(wanted.signal) });
    pin(captured.root);
    saving.soon();
    return isPolled ? { ...captured, isPolled } : captured;
  };

  return {
    store: pinned,
    capture: (wanted) => alone(() => capture(wanted)),
    diff: (before, after) => diffTrees(listingCache, before, after),
    entry: async (tree, path) => entryAt(listingCache, tree, splitTreePath(path).join('/')),
    entries: (tree) => entriesOf(listingCache, tree),
    async amend(tree, changes) {
      const { root: amended, contents } = await amendTree(listingCache, tree, changes);
      return store.put(contents).then(() => pin(amended));
    },
    async draft(tree, change) {
      const { root: drafted, contents } = await amendTree(listingCache, tree, [change]);
      const found = await entryAt(listingCache, tree, splitTreePath(change.path).join('/'));
      return { root: drafted, contents, found };
    },
    isOfSource: async (path) => ((await savedIndex.isStoreUnchanged()) ? isSourceFile(index, toRaw(path)) : undefined),
    apply: (changes, wanted = {}) =>
      alone(async () => {
        await scan();
        const apply = () => applyChanges({ rootFd, names, allowControl, index, store }, changes, wanted);
        const paths = changes.map(({ path }) => path);
        const applied = await serializeGitChanges({ handle: rootFd, names }, paths, apply);
        touches.add(applied.touches);
        saving.soon();
        return { refused: applied.refused };
      }),
    totals: () => alone(() => scan().then(totals)),
    markMoment: () => alone(() => markMoment(index, scan)),
    removeFilesMadeSince: (since) =>
      alone(async () => {
        await scan();
        const removed = await removeFilesMadeSince({ rootFd, names, index }, since);
        touches.add(removed);
        saving.soon();
        return removed.map(({ path }) => path);
      }),
    touchedSince: (asker) => alone(() => scan().then(() => touches.takeUnreported(asker))),
    watch: (onChange, signal) => watchTree({ following, touches, scan: () => alone(() => scan()) }, onChange, signal),
    [Symbol.asyncDispose]: once(async () => {
      saving.stop();
      closing.begin();
      await lateHashes.close();
      await alone(async () => {
        await savedIndex.close();
        closeSync(rootFd);
      });
    }),
  };
}

/** Ends what is under way when the tree is closed, so that closing a large tree does not wait for reading it. */
function createClosing(following: FollowedTree) {
  const controller = new AbortController();
  const { signal } = controller;
  return {
    signal,
    or: (other: AbortSignal | undefined) => (other ? AbortSignal.any([signal, other]) : signal),
    begin(): void {
      controller.abort(new TreeClosed('the tree is closed'));
      following.close();
    },
  };
}

/** Counts again only if something has changed. */
function createTotals(index: TreeIndex) {
  let [known, knownIn] = [{ files: 0, bytes: 0 }, -1];
  return () => {
    if (knownIn !== index.touched) [known, knownIn] = [totalsOf(index), index.touched];
    return known;
  };
}

/** Sums up the index. Called only for workspaces with a quota. */
function totalsOf({ directories }: TreeIndex): { files: number; bytes: number } {
  let [files, bytes] = [0, 0];
  for (const { children } of directories.values()) {
    for (const child of children.values()) {
      if (child.kind === 'directory') continue;
      files += 1;
      bytes += child.identity.size;
    }
  }
  return { files, bytes };
}

/** Scans for changes since the last scan. Returns the kernel's clock before it. */
function createScan(
  dependencies: {
    following: FollowedTree;
    index: TreeIndex;
    touches: ReturnType<typeof createTouchedPaths>;
    savedIndex: SavedIndex;
    /** Ends a scan that is under way. */
    signal: AbortSignal;
  },
  saveSoon: () => void,
): (onFound?: OnFound) => Promise<Pick<FollowedChanges, 'atNs' | 'isPolled'>> {
  const { following, index, touches, savedIndex, signal } = dependencies;
  let isFirst = true;
  return async (onFound) => {
    const taken = await following.take(onFound && countFound(onFound)).finally(() => signal.throwIfAborted());
    if (isFirst) await savedIndex.load(signal);
    const found = await index.absorb(taken, { remembered: isFirst ? savedIndex.recall : undefined, signal });
    // The first scan is reported to nobody: an asker that has not asked yet gets `everything`, and watchers are told of
    // changes only.
    if (isFirst) savedIndex.forgetMissing();
    else touches.add(found);
    isFirst = false;
    if (found.length > 0) saveSoon();
    return taken;
  };
}

type OnFound = NonNullable<CaptureOptions['onFound']>;

function countFound(onFound: OnFound): (sightings: readonly Sighting[]) => void {
  let [files, bytes] = [0, 0];
  return (sightings) => {
    files += sightings.length;
    for (const { kind, size } of sightings) if (kind === 'file') bytes += Math.min(size, maxStoredFileBytes);
    onFound({ files, bytes });
  };
}

/** Saves the index in the background, shortly after changes. */
function createSaving(save: () => Promise<void>) {
  let timer: NodeJS.Timeout | undefined;
  return {
    soon(): void {
      timer ??= setTimeout(() => {
        timer = undefined;
        save().catch(() => {});
      }, saveMs).unref();
    },
    stop: () => clearTimeout(timer),
  };
}
