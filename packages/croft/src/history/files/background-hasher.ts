import { closeSync, fstatSync } from 'node:fs';
import { isSameIdentity, type LeafNode } from '../tree/tree-nodes.ts';
import { hashLargeFile } from './hash-large-file.ts';
import { identityOf, type ReadLeaf } from './read-leaf.ts';

/** Each waiting file has an open descriptor. */
const maxWaiting = 64;

export type BackgroundHasher = ReturnType<typeof createBackgroundHasher>;

/**
 * Hashes files that a capture did not wait for, one after the other, in the background. The next capture finds the
 * results, and adds again the files that did not fit into the queue.
 */
export function createBackgroundHasher() {
  const waiting = new Map<LeafNode, number>();
  const done = new Map<LeafNode, ReadLeaf>();
  const closing = new AbortController();
  let working: Promise<void> | undefined;

  async function work(): Promise<void> {
    for (const [leaf, handle] of waiting) {
      const found = await hashLargeFile(handle, closing.signal).catch(() => 'unreadable' as const);
      waiting.delete(leaf);
      closeSync(handle);
      if (typeof found !== 'string') done.set(leaf, found);
    }
  }

  return {
    /** Returns the hash of the open file of a leaf, if it is known. */
    find(leaf: LeafNode, handle: number): ReadLeaf | undefined {
      const found = done.get(leaf);
      if (!found || isSameIdentity(found.identity, identityOf(fstatSync(handle, { bigint: true })))) return found;
      done.delete(leaf);
      return undefined;
    },
    /** Takes over the descriptor and closes it. */
    add(leaf: LeafNode, handle: number): void {
      if (done.has(leaf) || waiting.has(leaf) || waiting.size >= maxWaiting || closing.signal.aborted) {
        closeSync(handle);
        return;
      }
      waiting.set(leaf, handle);
      working ??= work().finally(() => {
        working = undefined;
      });
    },
    drop: (leaf: LeafNode): boolean => done.delete(leaf),
    /** Forgets leaves that are no longer in the tree. */
    keepOnly(isThere: (leaf: LeafNode) => boolean): void {
      for (const leaf of done.keys()) if (!isThere(leaf)) done.delete(leaf);
    },
    async close(): Promise<void> {
      closing.abort();
      await working;
    },
  };
}
