import { fstatSync } from 'node:fs';
import type { HistoryStore } from '../../core/history/ports/history-store.ts';
import type { RawName } from '../../core/history/trees/raw-names.ts';
import type { Sighting } from '../../init/followed-tree.ts';
import { type IndexRow, openIndexFile } from './index-file.ts';
import { createIndexSaver, type RunWhenIdle } from './index-saver.ts';
import type { Remembered, TreeIndex } from './tree-index.ts';
import { isSameIdentity, type LeafNode, type TreeNode } from './tree-nodes.ts';

const hashesAtOnce = 2000;
const closeWithinMs = 200;

/** A store that may report when contents were deleted. Without `epoch`, it is trusted to have all that it was given. */
type MaybeEpoch = HistoryStore & { epoch?(): Promise<string> };

/** The index of a tree beyond one run of the server, and beyond one garbage collection of the store. */
export interface SavedIndex {
  /** Loads the saved index, which takes as long as it is large. Called before the first scan is absorbed. */
  load(signal: AbortSignal): Promise<void>;
  /** Looks up a file during the first scan. */
  readonly recall: Remembered;
  /** Called after the first scan: forgets saved files that no longer exist. */
  forgetMissing(): void;
  /** Finds contents that the store has lost, so that they are stored again. */
  checkStore(): Promise<void>;
  /** Whether the store has deleted nothing since the last check. */
  isStoreUnchanged(): Promise<boolean>;
  save(inTurn: RunWhenIdle): Promise<void>;
  /** Starts a collection that keeps everything this tree needs, so that no check is necessary after it. */
  startCollection(begin: () => Promise<unknown>): Promise<void>;
  /**
   * Saves as many rows as fit into a moment, because closing waits for it. The next start reads the other files again.
   */
  close(): Promise<void>;
}

interface SavedIndexOptions {
  readonly index: TreeIndex;
  readonly store: MaybeEpoch;
  readonly rootFd: number;
  /** Path of the index file. Without it, nothing is saved. */
  readonly state: string | undefined;
}

export async function openSavedIndex(options: SavedIndexOptions): Promise<SavedIndex> {
  const { index, store, rootFd, state } = options;
  const { dev, ino } = fstatSync(rootFd, { bigint: true });
  const tree = `${dev}:${ino}`;
  const file = state === undefined ? undefined : openIndexFile(state);
  let [rows, epoch] = [new Map<RawName, IndexRow>(), undefined as string | undefined];
  const epochNow = async () => (await store.epoch?.()) ?? '';
  const saver = createIndexSaver(index, file, () => ({ tree, epoch: epoch ?? '' }));

  return {
    async load(signal) {
      const loaded = await file?.load(tree, signal);
      if (loaded && loaded.rows.size > 0) [rows, epoch] = [loaded.rows, loaded.epoch];
    },
    recall: (path, sighting) => recall(rows, path, sighting),
    forgetMissing() {
      for (const path of rows.keys()) if (!index.find(path)) index.removed.add(path);
      rows.clear();
    },
    async checkStore() {
      const now = await epochNow();
      if (epoch !== undefined && epoch !== now) await findLost(index, store);
      epoch = now;
    },
    isStoreUnchanged: async () => epoch === (await epochNow()),
    save: saver.save,
    async startCollection(begin) {
      const before = await epochNow();
      await begin();
      const after = await epochNow();
      if (epoch === before && isNext(before, after)) epoch = after;
    },
    async close() {
      await saver.save(async (work) => work(), closeWithinMs);
      saver.stop();
      file?.[Symbol.dispose]();
    },
  };
}

function recall(rows: Map<RawName, IndexRow>, path: RawName, { kind, ...identity }: Sighting): ReturnType<Remembered> {
  const row = rows.get(path);
  if (!row || row.kind !== kind || !isSameIdentity(row.identity, identity)) return undefined;
  rows.delete(path);
  const { size, mode } = row.identity;
  return {
    entry: { kind: row.kind, mode: kind === 'link' ? 0o777 : mode, size, hash: row.hash },
    isStored: row.isStored,
  };
}

/** Whether `after` is the collection directly after `before`. */
function isNext(before: string, after: string): boolean {
  const [id, number] = before.split(':');
  return after === `${id}:${Number(number) + 1}`;
}

async function findLost(index: TreeIndex, store: HistoryStore): Promise<void> {
  for (const directory of index.directories.values()) directory.listings.clear();
  const leaves = [...index.directories.values()].flatMap(({ children }) => [...children.values()].filter(isStoredLeaf));
  for (let at = 0; at < leaves.length; at += hashesAtOnce) {
    const batch = leaves.slice(at, at + hashesAtOnce);
    const lost = await store.findMissing(batch.flatMap(({ entry }) => entry?.hash ?? []));
    for (const leaf of batch) {
      if (!leaf.entry || !lost.has(leaf.entry.hash)) continue;
      leaf.isStored = false;
      index.unsaved.add(leaf);
    }
  }
}

function isStoredLeaf(node: TreeNode): node is LeafNode {
  return node.kind !== 'directory' && node.isStored;
}
