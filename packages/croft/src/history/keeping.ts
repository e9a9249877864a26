import { fstatSync } from 'node:fs';
import type { Content, HistoryStore } from '../core/history/store.ts';
import { piecesOf } from './read-large.ts';
import { identityOf, type ReadLeaf } from './read-leaf.ts';
import { isSameIdentity, type LeafNode } from './tree-nodes.ts';

/** More than this is not held until it is kept: a commit of it stops everything for as long as the disk takes. */
const maxPendingBytes = 4 * 1024 * 1024;

export class ChangedMeanwhile extends Error {}

export interface Keeping {
  /** What a leaf holds. It counts as kept when that is so. */
  add(content: Content, leaf?: LeafNode): void;
  /** For when too much is held. */
  readonly isFull: boolean;
  flush(): Promise<void>;
}

export function createKeeping(store: HistoryStore): Keeping {
  let contents: Content[] = [];
  let leaves: LeafNode[] = [];
  let bytes = 0;
  return {
    add(content, leaf) {
      contents.push(content);
      bytes += content.size;
      if (leaf) leaves.push(leaf);
    },
    get isFull() {
      return bytes > maxPendingBytes;
    },
    async flush() {
      const [given, of] = [contents, leaves];
      [contents, leaves, bytes] = [[], [], 0];
      await store.keep(given);
      const kept = new Set(given.map(({ hash }) => hash));
      // A leaf may have been read again since.
      for (const leaf of of) if (leaf.entry && kept.has(leaf.entry.hash)) leaf.isKept = true;
    },
  };
}

/** A large file goes from the disk to the store in pieces; false if it changes on the way. Closes nothing. */
export async function keepLarge(store: HistoryStore, handle: number, { entry, identity }: ReadLeaf): Promise<boolean> {
  if ((await store.lacks([entry.hash])).size === 0) return true;
  async function* bytes() {
    yield* piecesOf(handle);
    if (!isSameIdentity(identity, identityOf(fstatSync(handle, { bigint: true })))) throw new ChangedMeanwhile();
  }
  try {
    await store.keep([{ hash: entry.hash, size: entry.size, bytes }]);
    return true;
  } catch (thrown) {
    if (thrown instanceof ChangedMeanwhile) return false;
    throw thrown;
  }
}
