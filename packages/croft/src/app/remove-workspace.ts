import type { ObjectStore } from '../core/objects.ts';
import { type KeptWorkspaces, namespaceOf, removeWorkspaceObjects } from '../storages/index.ts';
import type { Places, WorkspaceRecord } from './places.ts';
import type { ServedBuckets } from './runners/served-buckets.ts';

export interface RemovalMeans {
  readonly places: Places;
  readonly kept: KeptWorkspaces;
  /** To runners. */
  readonly served: Pick<ServedBuckets, 'forget'>;
  /** What forks of it started from and none shows any more. */
  dropBases(key: string): Promise<void>;
  openObjects(record: WorkspaceRecord): Promise<ObjectStore>;
}

/** All files of a workspace, wherever they are, with what it was. Answers whether there were any. */
export function createRemoval({ places, kept, served, dropBases, openObjects }: RemovalMeans) {
  return async (record: WorkspaceRecord): Promise<boolean> => {
    const namespace = namespaceOf(record.accountId, record.id);
    served.forget(namespace);
    await places.remove(namespace);
    await dropBases(record.id);
    if (record.config.storage.provider !== 's3') return kept.remove(namespace);
    const objects = await openObjects(record);
    try {
      await removeWorkspaceObjects(objects, namespace);
    } finally {
      objects.close();
    }
    return true;
  };
}
