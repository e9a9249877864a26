import { fstatSync } from 'node:fs';
import type { RawName } from '../core/history/raw-names.ts';
import type { HistoryStore } from '../core/history/store.ts';
import type { Sighting } from '../init/following.ts';
import { type IndexRow, openIndexFile } from './index-file.ts';
import { createSaver, type InTurn } from './index-saver.ts';
import type { Remembered, TreeIndex } from './tree-index.ts';
import { isSameIdentity, type LeafNode, type TreeNode } from './tree-nodes.ts';

const hashesAtOnce = 2000;

/** A store that says when contents were taken away. One that does not is believed to have what it was given. */
type MaybeEpoch = HistoryStore & { epoch?(): Promise<string> };

/** What is known of a tree beyond one run of the server, and beyond one collection of the store. */
export interface Remembering {
  /** For the first look. */
  readonly remembered: Remembered;
  /** After the first look: what is not there any more is forgotten. */
  settle(): void;
  /** Looks for what the store has lost since, so that it is kept again. */
  checkStore(): Promise<void>;
  /** Whether it has lost nothing since. */
  isChecked(): Promise<boolean>;
  save(inTurn: InTurn): Promise<void>;
  /** The store took away only what this tree does not need. */
  passOver(collect: () => Promise<number>): Promise<number>;
  close(): Promise<void>;
}

export interface RememberingOptions {
  readonly index: TreeIndex;
  readonly store: MaybeEpoch;
  readonly root: number;
  /** The file it is in, if anything is to be remembered. */
  readonly state: string | undefined;
}

export async function openRemembering(options: RememberingOptions): Promise<Remembering> {
  const { index, store, root, state } = options;
  const { dev, ino } = fstatSync(root, { bigint: true });
  const tree = `${dev}:${ino}`;
  const file = state === undefined ? undefined : openIndexFile(state);
  const { rows, epoch: known } = (await file?.load(tree)) ?? { rows: new Map<string, IndexRow>(), epoch: undefined };
  let epoch = rows.size === 0 ? undefined : known;
  const epochNow = async () => (await store.epoch?.()) ?? '';
  const saver = createSaver(index, file, () => ({ tree, epoch: epoch ?? '' }));

  return {
    remembered: (path, sighting) => recall(rows, path, sighting),
    settle() {
      for (const path of rows.keys()) if (!index.find(path)) index.removed.add(path);
      rows.clear();
    },
    async checkStore() {
      const now = await epochNow();
      if (epoch !== undefined && epoch !== now) await findLost(index, store);
      epoch = now;
    },
    isChecked: async () => epoch === (await epochNow()),
    save: saver.save,
    async passOver(collect) {
      const before = await epochNow();
      const freed = await collect();
      const after = await epochNow();
      if (epoch === before && isNext(before, after)) epoch = after;
      return freed;
    },
    async close() {
      await saver.save(async (work) => work());
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
  return { entry: { kind: row.kind, mode: kind === 'link' ? 0o777 : mode, size, hash: row.hash }, isKept: row.isKept };
}

/** Whether there was no other collection between the two. */
function isNext(before: string, after: string): boolean {
  const [id, number] = before.split(':');
  return after === `${id}:${Number(number) + 1}`;
}

async function findLost(index: TreeIndex, store: HistoryStore): Promise<void> {
  for (const directory of index.directories.values()) directory.listings.clear();
  const leaves = [...index.directories.values()].flatMap(({ children }) => [...children.values()].filter(isKeptLeaf));
  for (let at = 0; at < leaves.length; at += hashesAtOnce) {
    const batch = leaves.slice(at, at + hashesAtOnce);
    const lost = await store.lacks(batch.flatMap(({ entry }) => entry?.hash ?? []));
    for (const leaf of batch) {
      if (!leaf.entry || !lost.has(leaf.entry.hash)) continue;
      leaf.isKept = false;
      index.unsaved.add(leaf);
    }
  }
}

function isKeptLeaf(node: TreeNode): node is LeafNode {
  return node.kind !== 'directory' && node.isKept;
}
