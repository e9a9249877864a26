import type { Archive } from './archive.ts';
import type { FileDiff } from './history.ts';
import type { LoggedSnapshot, SnapshotLog } from './snapshot-log.ts';
import type { HistoryStore } from './store.ts';
import { toFileDiffs } from './text-diff.ts';
import type { Root } from './tree.ts';
import type { WorkingTree } from './working-tree.ts';

export interface DiffOptions {
  readonly tree: WorkingTree;
  readonly archive: Archive;
  readonly archiveStore: HistoryStore;
  readonly snapshots: SnapshotLog;
  readonly maxFileBytes: number;
}

/** How a snapshot differs from another, or from the tree as it is. */
export function createDiff({ tree, archive, archiveStore, snapshots, maxFileBytes }: DiffOptions) {
  const { store } = tree;

  async function rootOf({ note }: LoggedSnapshot, signal: AbortSignal): Promise<Root> {
    await archive.bringListings(note.root, signal);
    return note.root;
  }

  async function rootNow({ note }: LoggedSnapshot, signal: AbortSignal): Promise<Root> {
    const scope = note.includesIgnored ? 'with-ignored' : 'source';
    return (await tree.capture({ scope, maxFileBytes, signal })).root;
  }

  async function read(hash: string): Promise<Buffer> {
    const isHere = archiveStore === store || (await store.lacks([hash])).size === 0;
    return isHere ? store.read(hash) : archiveStore.read(hash);
  }

  return async (wanted: { from: string; to?: string | undefined; signal: AbortSignal }): Promise<FileDiff[]> => {
    const { from, to, signal } = wanted;
    const first = await snapshots.mustFind(from);
    const second = to === undefined ? undefined : await snapshots.mustFind(to);
    const before = await rootOf(first, signal);
    const after = second ? await rootOf(second, signal) : await rootNow(first, signal);
    return toFileDiffs(await tree.diff(before, after), { read }, signal);
  };
}
