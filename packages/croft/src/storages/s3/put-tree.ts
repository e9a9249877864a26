import { randomBytes } from 'node:crypto';
import { AppError } from '@croft/protocol';
import type { HistoryStore } from '../../core/history/store.ts';
import { emptyRoot, type PathChange, type TreeEntry, type TreePath } from '../../core/history/tree.ts';
import type { ObjectStore } from '../../core/objects.ts';
import { inParallel } from '../../lib/in-parallel.ts';
import { objectKey, requestsAtATime } from './ground.ts';
import { advanceHead } from './head.ts';
import { keyOf, markerOf } from './keys.ts';
import { metadataOf } from './object-entries.ts';

export interface PutTreeOptions {
  readonly objects: ObjectStore;
  /** Of a workspace that nobody has opened yet. */
  readonly namespace: string;
  /** Where the contents are. */
  readonly store: Pick<HistoryStore, 'open'>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Makes a workspace in the bucket of what differs between nothing and a tree, control files too: as with any other, they
 * come to a disk with the opening. The head comes last, and tells that it is whole.
 */
export async function putTree(changes: readonly PathChange[], options: PutTreeOptions): Promise<void> {
  const { objects, namespace, store, signal } = options;
  const write = randomBytes(12).toString('hex');
  const entries = changes.flatMap(({ path, after }) => (after ? [toObject(path, after)] : []));
  await inParallel(entries, requestsAtATime, async ({ key, entry }) => {
    signal?.throwIfAborted();
    const open = () => (entry.size === 0 ? Buffer.alloc(0) : store.open(entry.hash));
    const metadata = metadataOf(entry, write);
    await objects.put(objectKey({ namespace }, key), { size: entry.size, open }, { metadata, signal });
  });
  await advanceHead(objects, namespace, { id: write, by: write, keys: [] }, signal);
}

function toObject(path: TreePath, entry: TreeEntry): { readonly key: string; readonly entry: TreeEntry } {
  const key = keyOf(path);
  if (key === undefined)
    throw new AppError('E_NAME_TOO_LONG', `the path is too long to be stored: ${path.slice(0, 200)}…`);
  if (entry.kind !== 'directory') return { key, entry };
  // What a directory holds is told by other objects.
  return { key: markerOf(key), entry: { ...entry, size: 0, hash: emptyRoot } };
}
