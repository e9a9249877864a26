import { join } from 'node:path';
import type { Emit } from '../../core/events/emitter.ts';
import { openFilesLazily } from '../../core/files/open-files-lazily.ts';
import type { DiskCapacity } from '../../core/quota/quota-guard.ts';
import type { ObjectStore } from '../../core/storage/object-store.ts';
import { once } from '../../lib/concurrency/once.ts';
import { removeTree } from '../../lib/files/remove-tree.ts';
import {
  createDirectGlob,
  createDirectObjects,
  createS3Files,
  type DataDirectory,
  namespaceOf,
} from '../../storages/index.ts';
import type { FleetWorkspaces } from '../fleet/fleet-workspaces.ts';
import { createWorkspaceOnRunner } from '../fleet/workspace-on-runner.ts';
import { openDataDirectoryWorkspace } from '../workspaces/data-directory-workspace.ts';
import {
  createOpenedWorkspaces,
  type DirectWorkspace,
  type OpenedWorkspaces,
  type OpenedWorkspacesOptions,
  type WorkspaceRecord,
} from '../workspaces/opened-workspaces.ts';
import { createS3Workspace } from '../workspaces/s3-workspace.ts';
import type { WorkspaceHistories } from '../workspaces/workspace-histories.ts';
import type { AccountQuota } from './account-quota.ts';
import type { DataDirectoryBinding } from './data-directory-binding.ts';

interface AccountWorkspacesOptions {
  readonly data: string;
  readonly localWorkspaces: DataDirectory;
  readonly histories: WorkspaceHistories;
  /** Opens the bucket of a workspace. Throws if the bucket cannot be opened. */
  openObjects(record: WorkspaceRecord): Promise<ObjectStore>;
  /** Limits on what an account stores on this machine. */
  readonly accountQuota: Pick<AccountQuota, 'storageOf' | 'historyShare'>;
  /** Free space on the disk of the data directory. Without it, the disk may be filled. */
  readonly disk?: { of(accountId: string): DiskCapacity } | undefined;
  /** Opens workspaces that are on a runner. */
  readonly remote: Pick<FleetWorkspaces, 'open'>;
  readonly codeIndexes?: OpenedWorkspacesOptions['codeIndexes'];
  /** Tells which data directory has a local workspace. Absent: the data directory of this server has all. */
  readonly binding?: Pick<DataDirectoryBinding, 'mustBeHere'> | undefined;
  readonly emit: Emit;
  onWarning(message: string): void;
}

/** Opens the workspaces of accounts, by storage. A new storage is one line here. */
export function openAccountWorkspaces(options: AccountWorkspacesOptions): OpenedWorkspaces {
  const { data, localWorkspaces, histories, openObjects, accountQuota, disk, remote, emit, onWarning } = options;
  const boundsOf = (accountId: string) => ({
    disk: disk?.of(accountId),
    account: accountQuota.storageOf(accountId),
    historyShare: accountQuota.historyShare(accountId),
  });
  return createOpenedWorkspaces({
    codeIndexes: options.codeIndexes,
    ...(options.binding && { mustBeHere: options.binding.mustBeHere }),
    storages: {
      runner: (record) => createWorkspaceOnRunner(record, remote, onWarning),
      local: ({ accountId, config: { quota } }, namespace) =>
        openDataDirectoryWorkspace(namespace, {
          localWorkspaces,
          histories,
          quota,
          ...boundsOf(accountId),
          removeHistory: removeTree,
        }),
      s3(record, namespace) {
        const directory = join(data, 'mounts', namespace);
        const { quota, storage } = record.config;
        return createS3Workspace({
          ...{ namespace, directory, histories, quota, onWarning, access: 'read-write' },
          allowControl: histories.allowControl,
          ...boundsOf(record.accountId),
          onOutage: storage.onOutage === 'queue' ? 'queue' : 'refuse',
          openObjects: () => openObjects(record),
          onProgress: (phase, done, total) =>
            emit('lifecycle.workspace.storage', () => ({ workspace: record.id, phase, done, total })),
          removeDirectory: () => removeTree(directory),
        });
      },
    },
    openDirectly: (record, name) =>
      record.config.storage.provider === 's3' && record.config.home === undefined
        ? readDirectly(record, name, openObjects)
        : undefined,
  });
}

function readDirectly(
  record: WorkspaceRecord,
  name: string,
  openObjects: AccountWorkspacesOptions['openObjects'],
): DirectWorkspace {
  const root = `/workspaces/${name}`;
  const open = once(async () => {
    const objects = await openObjects(record);
    const namespace = namespaceOf(record.accountId, record.id);
    const direct = createDirectObjects(objects, namespace);
    const files = createS3Files({ objects, namespace, names: [root], direct });
    return { files, listFiles: createDirectGlob({ direct, files }) };
  });
  return {
    root,
    files: openFilesLazily(async () => (await open()).files),
    listFiles: async (search) => (await open()).listFiles(search),
  };
}
