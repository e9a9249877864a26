import type { WorkingTree } from '../core/history/working-tree.ts';
import type { Mount } from '../core/mount.ts';
import { checkQuota, type Held } from '../core/quota.ts';
import type { CommitReport, StoredMount, WorkspaceQuota } from '../core/storage.ts';

export interface LocalMountOptions {
  readonly mount: Mount;
  readonly tree: WorkingTree;
  readonly quota?: WorkspaceQuota | undefined;
}

/** A workspace whose storage is its directory: what is written is stored, and everybody sees it. What is left is the quota. */
export async function openLocalMount({ mount, tree, quota }: LocalMountOptions): Promise<StoredMount> {
  let held: Held = await tree.totals();
  await tree.touchedSince(asker);

  async function commit(): Promise<CommitReport> {
    const touched = await tree.touchedSince(asker);
    const before = held;
    held = await tree.totals();
    if (quota) checkQuota(before, held, quota);
    return { committed: touched === 'everything' ? [] : [...touched].sort(), conflicts: [], queued: [] };
  }

  return {
    ...mount,
    tree,
    history: tree.store,
    refresh: async () => {},
    commit,
    flush: async () => {},
    materialize: async () => {},
    close: async () => {},
  };
}

const asker = 'commit';
