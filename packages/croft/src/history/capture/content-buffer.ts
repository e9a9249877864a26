import { fstatSync } from 'node:fs';
import type { Content, HistoryStore } from '../../core/history/ports/history-store.ts';
import { readPieces } from '../files/hash-large-file.ts';
import { identityOf, type ReadLeaf } from '../files/read-leaf.ts';
import { isSameIdentity, type LeafNode } from '../tree/tree-nodes.ts';

/** Limit of bytes in the buffer: a larger commit would block everything for as long as the disk takes. */
const maxPendingBytes = 4 * 1024 * 1024;

class ChangedMeanwhile extends Error {}

export interface ContentBuffer {
  /** Adds the content of a leaf. The leaf counts as stored after the next flush. */
  add(content: Content, leaf?: LeafNode): void;
  /** Whether the caller should flush. */
  readonly isFull: boolean;
  flush(): Promise<void>;
}

export function createContentBuffer(store: HistoryStore): ContentBuffer {
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
      await store.put(given);
      const stored = new Set(given.map(({ hash }) => hash));
      // The leaf may have been read again since, with another content.
      for (const leaf of of) if (leaf.entry && stored.has(leaf.entry.hash)) leaf.isStored = true;
    },
  };
}

/**
 * Copies a large file from the disk to the store in pieces. Returns false if the file changes meanwhile. Does not close
 * the descriptor.
 */
export async function storeLargeFile(store: HistoryStore, fd: number, { entry, identity }: ReadLeaf): Promise<boolean> {
  if ((await store.findMissing([entry.hash])).size === 0) return true;
  async function* bytes() {
    yield* readPieces(fd);
    if (!isSameIdentity(identity, identityOf(fstatSync(fd, { bigint: true })))) throw new ChangedMeanwhile();
  }
  try {
    await store.put([{ hash: entry.hash, size: entry.size, bytes }]);
    return true;
  } catch (thrown) {
    if (thrown instanceof ChangedMeanwhile) return false;
    throw thrown;
  }
}
