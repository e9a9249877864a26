import { closeSync } from 'node:fs';
import { toRaw } from '../core/history/raw-names.ts';
import type { HistoryStore } from '../core/history/store.ts';
import type { WorkingTree } from '../core/history/working-tree.ts';
import { reopenDirectory } from '../disk/handles.ts';
import type { Follower, Following } from '../init/following.ts';
import { createKeyedLock } from '../lib/keyed-lock.ts';
import { once } from '../lib/once.ts';
import { amendTree, namesOf } from './amend-tree.ts';
import { applyChanges } from './apply.ts';
import { captureTree } from './capture.ts';
import { diffTrees, entriesOf, entryAt } from './diff-trees.ts';
import { createListings } from './listings.ts';
import { pinRoots } from './pinned-store.ts';
import { openRemembering, type Remembering } from './remembering.ts';
import { isOfSource } from './source-paths.ts';
import { createTouches } from './touches.ts';
import { TreeIndex } from './tree-index.ts';
import type { LeafNode } from './tree-nodes.ts';
import { watchTree } from './watch-tree.ts';

export interface WorkingTreeOptions {
  /** An open handle of the root. It stays the caller's. */
  readonly handle: number;
  /** What the root is called, for what may be said to people. */
  readonly directory?: string | undefined;
  readonly store: HistoryStore;
  readonly follower: Follower;
  /** The file in which is remembered what was read, so that another start reads none of it again. Left out: it does. */
  readonly state?: string | undefined;
}

const saveMs = 500;

export async function openWorkingTree(options: WorkingTreeOptions): Promise<WorkingTree> {
  const { store, state } = options;
  const root = reopenDirectory(options.handle);
  const index = new TreeIndex();
  let remembering: Remembering | undefined;
  try {
    remembering = await openRemembering({ index, store, root, state });
    const following = await options.follower.open(root);
    return createWorkingTree({ ...options, handle: root }, { index, remembering, following });
  } catch (thrown) {
    await remembering?.close();
    closeSync(root);
    throw thrown;
  }
}

interface Opened {
  readonly index: TreeIndex;
  readonly remembering: Remembering;
  readonly following: Following;
}

function createWorkingTree(options: WorkingTreeOptions, { index, remembering, following }: Opened): WorkingTree {
  const { handle: root, store, directory } = options;
  const names = directory === undefined ? [] : [directory];
  const [listings, touches, unkept] = [createListings(store), createTouches(), new Set<LeafNode>()];
  const lock = createKeyedLock();
  const alone = <T>(work: () => Promise<T>) => lock.run('tree', work);
  const { pinned, pin } = pinRoots(store, (collect) => alone(() => remembering.passOver(collect)));
  const saving = createSaving(() => remembering.save((work) => alone(async () => work())));
  const look = createLook({ following, index, touches, remembering }, saving.soon);

  return {
    store: pinned,
    capture: (wanted) =>
      alone(async () => {
        wanted.signal?.throwIfAborted();
        const atNs = await look();
        await remembering.checkStore();
        const captured = await captureTree({ index, store, listings, root, unkept, atNs }, wanted);
        pin(captured.root);
        saving.soon();
        return captured;
      }),
    diff: (before, after) => diffTrees(listings, before, after),
    entry: async (tree, path) => entryAt(listings, tree, namesOf(path).join('/')),
    entries: (tree) => entriesOf(listings, tree),
    async amend(tree, changes) {
      const amended = await amendTree(listings, tree, changes);
      await store.keep(amended.contents);
      return pin(amended.root);
    },
    async draft(tree, change) {
      const { root: drafted, contents } = await amendTree(listings, tree, [change]);
      return { root: pin(drafted), contents, found: await entryAt(listings, tree, namesOf(change.path).join('/')) };
    },
    isOfSource: async (path) => ((await remembering.isChecked()) ? isOfSource(index, toRaw(path)) : undefined),
    apply: (changes, wanted = {}) =>
      alone(async () => {
        await look();
        const applied = await applyChanges({ root, names, index, store }, changes, wanted);
        touches.add(applied.touches);
        saving.soon();
        return { refused: applied.refused };
      }),
    totals: () =>
      alone(async () => {
        await look();
        return totalsOf(index);
      }),
    touchedSince: (asker) =>
      alone(async () => {
        await look();
        return touches.tell(asker);
      }),
    watch: (onChange, signal) => watchTree({ following, touches, look: () => alone(look) }, onChange, signal),
    [Symbol.asyncDispose]: once(async () => {
      saving.stop();
      await alone(async () => {
        await remembering.close();
        following.close();
        closeSync(root);
      });
    }),
  };
}

/** From what is known of each: for whoever has a quota, and costs nobody else anything. */
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

/** What has changed since the last look. Answers the kernel's clock before it. */
function createLook(
  means: {
    following: Following;
    index: TreeIndex;
    touches: ReturnType<typeof createTouches>;
    remembering: Remembering;
  },
  saveSoon: () => void,
): () => Promise<bigint> {
  const { following, index, touches, remembering } = means;
  let isFirst = true;
  return async () => {
    const taken = await following.take();
    const found = await index.absorb(taken, isFirst ? remembering.remembered : undefined);
    // Who has asked for nothing yet has missed everything, and who watches is told of what changes.
    if (isFirst) remembering.settle();
    else touches.add(found);
    isFirst = false;
    if (found.length > 0) saveSoon();
    return taken.atNs;
  };
}

/** What was read is written down when there is time. */
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
