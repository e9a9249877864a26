import { join } from 'node:path';
import { AppError } from '@croft/protocol';
import type { WorkspaceRequest } from '../../core/runner-workspaces/runner-workspace.ts';
import type { ObjectStore } from '../../core/storage/object-store.ts';
import { removeTree } from '../../lib/files/remove-tree.ts';
import type { OpenedWorkspace } from '../workspaces/opened-workspaces.ts';
import { createS3Workspace } from '../workspaces/s3-workspace.ts';
import type { WorkspaceHistories } from '../workspaces/workspace-histories.ts';

interface BucketWorkspacesOptions {
  /** Each workspace gets a directory below this one. */
  readonly root: string;
  readonly histories: WorkspaceHistories;
  readonly access: 'read-write' | 'read-only';
  onWarning(message: string): void;
}

/** A server's request to open a workspace in a bucket. */
export type BucketWorkspaceRequest = Pick<WorkspaceRequest, 'namespace' | 'quota'> & {
  readonly bucket: NonNullable<WorkspaceRequest['bucket']>;
};

interface OpenBucketWorkspace {
  readonly workspace: OpenedWorkspace;
  readonly objects: ReturnType<typeof createSwitchableStore>;
  request: BucketWorkspaceRequest;
}

export type BucketWorkspaces = ReturnType<typeof createBucketWorkspaces>;

/**
 * Workspaces in buckets, each with a working tree on this machine. The working tree outlives the links over which its
 * bucket is reached. Without a link the bucket counts as unavailable, and queued changes are stored over the next link.
 */
export function createBucketWorkspaces({ root, histories, access, onWarning }: BucketWorkspacesOptions) {
  const opened = new Map<string, OpenBucketWorkspace>();
  const directoryOf = (namespace: string) => join(root, 'mounts', namespace);

  function make(first: BucketWorkspaceRequest): OpenBucketWorkspace {
    const { namespace } = first;
    const directory = directoryOf(namespace);
    const objects = createSwitchableStore();
    const workspace = createS3Workspace({
      ...{ namespace, directory, histories, access, onWarning },
      get quota() {
        return known.request.quota;
      },
      get onOutage() {
        return known.request.bucket.onOutage;
      },
      openObjects: async () => objects,
      onProgress() {},
      removeDirectory: () => removeTree(directory),
    });
    const known: OpenBucketWorkspace = { workspace, objects, request: first };
    return known;
  }

  return {
    directoryOf,
    /** The directory of the files, as this machine sees it. */
    filesOf: (namespace: string): string => join(directoryOf(namespace), 'files'),
    /** Opens the workspace. From now on `objects` is its bucket. */
    async open(request: BucketWorkspaceRequest, objects: ObjectStore): Promise<OpenedWorkspace> {
      const known = opened.get(request.namespace) ?? make(request);
      opened.set(request.namespace, known);
      const isOther = settingsOf(known.request) !== settingsOf(request);
      known.request = request;
      known.objects.use(objects);
      if (isOther) await known.workspace.close({ isRemoved: false });
      return known.workspace;
    },
    /** Removes the working tree and everything stored beside it. */
    async remove(namespace: string): Promise<void> {
      const known = opened.get(namespace);
      opened.delete(namespace);
      // Changes that could not be stored are not needed any more.
      await known?.workspace.close({ isRemoved: false }).catch(() => {});
      await removeTree(directoryOf(namespace));
    },
    async close(): Promise<void> {
      await Promise.all([...opened.values()].map(({ workspace }) => workspace.close({ isRemoved: false })));
    },
  };
}

/** When this string changes, the workspace has to be reopened. */
function settingsOf({ bucket: { mark, onOutage }, quota }: BucketWorkspaceRequest): string {
  return JSON.stringify([mark, onOutage, quota]);
}

/** A bucket that is reached over the newest link to the server. */
function createSwitchableStore(): ObjectStore & { use(objects: ObjectStore): void } {
  let current: ObjectStore | undefined;
  const now = (): ObjectStore => {
    if (current) return current;
    throw new AppError(
      'E_STORAGE_UNAVAILABLE',
      'nothing was done: no server has connected to this runner yet, and only through a server it reaches the bucket',
    );
  };
  return {
    get: async (...call) => now().get(...call),
    head: async (...call) => now().head(...call),
    put: async (...call) => now().put(...call),
    remove: async (...call) => now().remove(...call),
    copy: async (...call) => now().copy(...call),
    list: (...call) => now().list(...call),
    probe: async (...call) => now().probe(...call),
    close() {},
    use(objects) {
      current = objects;
    },
  };
}
