import type { ObjectStore } from '../core/objects.ts';
import { type KeptWorkspaces, namespaceOf, removeWorkspaceObjects } from '../storages/index.ts';
import type { Places, WorkspaceRecord } from './places.ts';
import type { ServedBuckets } from './runners/served-buckets.ts';

export interface RemovalMeans {
  readonly places: Places;
  readonly kept: KeptWorkspaces;
  /** To runners. */
  readonly served: Pick<ServedBuckets, 'forget'>;
  /** What runners have of it. Never throws. */
  removeThere(record: WorkspaceRecord): Promise<boolean>;
  /** What forks of it started from and none shows any more. */
  dropBases(key: string): Promise<void>;
  openObjects(record: WorkspaceRecord): Promise<ObjectStore>;
}

/** All files of a workspace, wherever they are, with what it was. Answers whether there were any. */
export function createRemoval({ places, kept, served, removeThere, dropBases, openObjects }: RemovalMeans) {
  return async (record: WorkspaceRecord): Promise<boolean> => {
    const namespace = namespaceOf(record.accountId, record.id);
    const isInBucket = record.config.storage.provider === 's3';
    served.forget(namespace);
    // What is kept of it on this machine is found by its place, which nobody may have opened since the server started.
    if (isInBucket || kept.find(namespace)) places.of(record);
    await places.remove(namespace);
    await dropBases(record.id);
    const wasThere = await removeThere(record);
    if (!isInBucket) return (await kept.remove(namespace)) || wasThere;
    const objects = await openObjects(record);
    try {
      await removeWorkspaceObjects(objects, namespace);
    } finally {
      objects.close();
    }
    return true;
  };
}
