import type { ObjectStore } from '../core/objects.ts';
import { type KeptWorkspaces, namespaceOf, removeWorkspaceObjects } from '../storages/index.ts';
import type { Places, WorkspaceRecord } from './places.ts';

export interface RemovalMeans {
  readonly places: Places;
  readonly kept: KeptWorkspaces;
  /** What forks of it started from and none shows any more. */
  dropBases(key: string): Promise<void>;
  openObjects(record: WorkspaceRecord): Promise<ObjectStore>;
}

/** All files of a workspace, wherever they are, with what it was. Answers whether there were any. */
export function createRemoval({ places, kept, dropBases, openObjects }: RemovalMeans) {
  return async (record: WorkspaceRecord): Promise<boolean> => {
    const namespace = namespaceOf(record.accountId, record.id);
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
