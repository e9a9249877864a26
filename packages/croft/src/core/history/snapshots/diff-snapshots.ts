import type { LoggedSnapshot, SnapshotLog } from '../logs/snapshot-log.ts';
import type { FileDiff } from '../ports/history.ts';
import type { HistoryStore } from '../ports/history-store.ts';
import type { TreeHash } from '../ports/tree.ts';
import type { WorkingTree } from '../ports/working-tree.ts';
import { toFileDiffs } from '../trees/text-diff.ts';
import type { TreeArchive } from '../trees/tree-archive.ts';

interface DiffSnapshotsOptions {
  readonly tree: WorkingTree;
  readonly archive: TreeArchive;
  readonly archiveStore: HistoryStore;
  readonly snapshots: SnapshotLog;
  readonly maxFileBytes: number;
}

/** Compares a snapshot with another one, or with the tree as it is now. */
export function createDiffSnapshots({ tree, archive, archiveStore, snapshots, maxFileBytes }: DiffSnapshotsOptions) {
  const { store } = tree;

  async function hashOf({ note }: LoggedSnapshot, signal: AbortSignal): Promise<TreeHash> {
    await archive.bringListings(note.root, signal);
    return note.root;
  }

  async function hashNow({ note }: LoggedSnapshot, signal: AbortSignal): Promise<TreeHash> {
    const scope = note.includesIgnored ? 'with-ignored' : 'source';
    return (await tree.capture({ scope, maxFileBytes, signal })).root;
  }

  async function read(hash: string): Promise<Buffer> {
    const isHere = archiveStore === store || (await store.findMissing([hash])).size === 0;
    return isHere ? store.read(hash) : archiveStore.read(hash);
  }

  return async (wanted: { from: string; to?: string | undefined; signal: AbortSignal }): Promise<FileDiff[]> => {
    const { from, to, signal } = wanted;
    const first = await snapshots.mustFind(from);
    const second = to === undefined ? undefined : await snapshots.mustFind(to);
    const before = await hashOf(first, signal);
    const after = second ? await hashOf(second, signal) : await hashNow(first, signal);
    return toFileDiffs(await tree.diff(before, after), { read }, signal);
  };
}
