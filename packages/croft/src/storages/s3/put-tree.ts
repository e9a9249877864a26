import { randomBytes } from 'node:crypto';
import { AppError } from '@croft/protocol';
import type { HistoryStore } from '../../core/history/ports/history-store.ts';
import { emptyTreeHash, type PathChange, type TreeEntry, type TreePath } from '../../core/history/ports/tree.ts';
import type { ObjectStore } from '../../core/storage/object-store.ts';
import { inParallel } from '../../lib/concurrency/in-parallel.ts';
import { keyOfPath, markerOfKey } from './layout/object-keys.ts';
import { metadataOf } from './layout/object-metadata.ts';
import { advanceHead } from './layout/workspace-head.ts';
import { objectKey, requestsAtATime } from './mount/working-copy/mount-context.ts';

interface PutTreeOptions {
  readonly objects: ObjectStore;
  /** Namespace of a workspace that nobody has opened yet. */
  readonly namespace: string;
  /** The history store that has the contents. */
  readonly store: Pick<HistoryStore, 'open'>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Creates a workspace in the bucket from a tree, given as the changes from the empty tree. Control files are included:
 * as with any workspace, they reach a disk when it is opened. The head is put last and says that the workspace is
 * complete.
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
  const key = keyOfPath(path);
  if (key === undefined)
    throw new AppError('E_NAME_TOO_LONG', `the path is too long to be stored: ${path.slice(0, 200)}…`);
  if (entry.kind !== 'directory') return { key, entry };
  // The entries of a directory are objects of their own.
  return { key: markerOfKey(key), entry: { ...entry, size: 0, hash: emptyTreeHash } };
}
