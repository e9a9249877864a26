import { AppError } from '@croft/protocol';
import { isInBucket } from '../../core/accounts/surface/workspace-location.ts';
import type { ObjectStore } from '../../core/storage/object-store.ts';
import { type DataDirectory, namespaceOf, removeWorkspaceObjects, workspacePrefixes } from '../../storages/index.ts';
import type { ServedBuckets } from '../fleet/served-buckets.ts';
import type { OpenedWorkspaces, WorkspaceRecord } from '../workspaces/opened-workspaces.ts';

interface WorkspaceRemovalOptions {
  readonly openedWorkspaces: OpenedWorkspaces;
  readonly localWorkspaces: DataDirectory;
  /** Buckets that are served to runners. */
  readonly served: Pick<ServedBuckets, 'forget'>;
  /** Removes the workspace's files from runners. Never throws. */
  removeFromRunners(record: WorkspaceRecord): Promise<boolean>;
  /** Removes the bases of its forks that no fork uses any more. */
  removeUnusedBases(key: string): Promise<void>;
  openObjects(record: WorkspaceRecord): Promise<ObjectStore>;
  /** The id of this server's data directory, if local workspaces are bound to one. */
  readonly directory: string | undefined;
}

/** Removes the files and the history of a workspace, wherever they are. */
export function createWorkspaceRemoval(options: WorkspaceRemovalOptions) {
  const { openedWorkspaces, localWorkspaces, served, removeFromRunners, removeUnusedBases, directory } = options;
  const isHere = (record: WorkspaceRecord) => record.directory === undefined || record.directory === directory;

  /** Removes the files of a workspace from this server and its runner. Returns whether there were any. */
  async function removeFiles(record: WorkspaceRecord): Promise<boolean> {
    const namespace = namespaceOf(record.accountId, record.id);
    served.forget(namespace);
    // Only an opened workspace finds its files on this machine, and nobody may have opened it since the server started.
    if (isInBucket(record) || (isHere(record) && localWorkspaces.find(namespace))) openedWorkspaces.of(record);
    await openedWorkspaces.remove(namespace);
    await removeUnusedBases(record.id);
    const wasOnRunner = await removeFromRunners(record);
    return isInBucket(record) || (await localWorkspaces.remove(namespace)) || wasOnRunner;
  }

  /**
   * Removes the workspace's objects if it is in a bucket. Throws and lists what is left if they cannot be deleted:
   * without the record nobody would know about these objects.
   */
  async function removeObjects(record: WorkspaceRecord): Promise<void> {
    if (!isInBucket(record)) return;
    const namespace = namespaceOf(record.accountId, record.id);
    try {
      await emptyBucket(record, namespace);
    } catch (thrown) {
      throw objectsLeft(record, namespace, AppError.from(thrown));
    }
  }

  async function emptyBucket(record: WorkspaceRecord, namespace: string): Promise<void> {
    const objects = await options.openObjects(record);
    try {
      // Nothing is closed or removed if the bucket cannot be reached.
      for await (const _ of objects.list(`${namespace}/`)) break;
      served.forget(namespace);
      // An open mount would store its files again.
      await openedWorkspaces.remove(namespace);
      await removeWorkspaceObjects(objects, namespace);
    } finally {
      objects.close();
    }
  }

  return {
    removeObjects,
    removeFiles,
    /** Removes the files of a local workspace whose record another server has removed. */
    removeOrphaned: ({ accountId, id }: Pick<WorkspaceRecord, 'accountId' | 'id'>): Promise<boolean> =>
      removeFiles({
        ...{ accountId, id, name: id, directory, config: { storage: { provider: 'local' } } },
        ...{ createdAt: '', updatedAt: '', version: 1 },
      }),
    async removeAll(record: WorkspaceRecord): Promise<boolean> {
      await removeObjects(record);
      return removeFiles(record);
    },
  };
}

function objectsLeft({ id, name }: WorkspaceRecord, namespace: string, cause: AppError): AppError {
  const left = workspacePrefixes(namespace);
  const message =
    `the workspace ${name} (${id}) is not deleted, because its objects cannot be: ${cause.message}. Objects are left ` +
    `below ${left.join(' and ')}. Delete it again when its bucket can be reached, or set config.storage.provider to ` +
    'local first to keep the objects';
  const code = cause.code === 'E_STORAGE_UNAVAILABLE' ? cause.code : 'E_STORAGE_FAILED';
  return new AppError(code, message, { cause, details: { workspaceId: id, left } });
}
