import { AppError } from '@croft/protocol';
import type { ResourceView, WorkspaceConfig } from '../../core/accounts/ports/registry.ts';
import type { WatchFiles } from '../../core/content/changes/file-access.ts';
import type { Files } from '../../core/files/files.ts';
import type { History } from '../../core/history/ports/history.ts';
import type { WorkingTree } from '../../core/history/ports/working-tree.ts';
import type { WorkspaceMount } from '../../core/storage/workspace-mount.ts';
import type { Workspace, WrapCall } from '../../core/workspace/workspace.ts';
import { namespaceOf } from '../../storages/index.ts';
import type { WorkspaceIndexes } from './code-indexes-of-workspaces.ts';

export type WorkspaceRecord = ResourceView<WorkspaceConfig>;

/** A workspace of an account, opened once on this server for all its agents and people. */
export interface OpenedWorkspace {
  /** Identifies the workspace. It stays the same across restarts of the server. */
  readonly key: string;
  /** The files as a caller sees them who uses this name for the workspace. */
  named(name: string): Pick<WorkspaceMount, 'root' | 'files'>;
  /** An open file descriptor of the workspace's directory. The directory may have to be filled first. */
  directoryFd(): Promise<number>;
  /** Throws `E_WORKSPACE_GONE`. */
  mustBeThere(): void;
  tree(): Promise<WorkingTree>;
  /** Searches where the files are. Absent: they are searched by their descriptor, in a sandbox of this machine. */
  readonly withSearchBox?: Workspace['withSearchBox'] | undefined;
  readonly history: History | undefined;
  /** Bytes that may be added now. Without it, there is no such limit. */
  left?(): Promise<number>;
  /** See the same method of `Workspace`. */
  checkQuota?(): Promise<void>;
  readonly wrapCall: WrapCall;
  readonly watch: WatchFiles;
  /**
   * Closes the workspace. With `isRemoved`, also removes what this machine stores beside its files: history or working
   * tree.
   */
  close(options: { readonly isRemoved: boolean }): Promise<void>;
}

/** The files of a workspace in a bucket, read without a mount. Read-only. */
export interface DirectWorkspace {
  readonly root: string;
  readonly files: Files;
  readonly listFiles: NonNullable<Workspace['listFiles']>;
}

export interface OpenedWorkspacesOptions {
  /** Creates the workspaces of each storage. Nothing is opened before its first use. */
  readonly storages: Readonly<Record<string, (record: WorkspaceRecord, namespace: string) => OpenedWorkspace>>;
  /** Reads a workspace without a mount. Returns nothing if a mount is the most direct way. */
  openDirectly(record: WorkspaceRecord, name: string): DirectWorkspace | undefined;
  /** Throws if another server has the files of the workspace. Absent: this server has the files of all. */
  mustBeHere?(record: WorkspaceRecord): void;
  /** Indexes of the code in these workspaces. Absent: there are none. */
  readonly codeIndexes?: Pick<WorkspaceIndexes, 'close' | 'remove'> | undefined;
}

interface OpenEntry {
  readonly workspace: OpenedWorkspace;
  readonly accountId: string;
  readonly storage: string;
  readonly isInBucket: boolean;
}

export type OpenedWorkspaces = ReturnType<typeof createOpenedWorkspaces>;

/** Opens each workspace once for all its users, so that all of them see the same changes. */
export function createOpenedWorkspaces(options: OpenedWorkspacesOptions) {
  const { storages, openDirectly, codeIndexes } = options;
  const entries = new Map<string, OpenEntry>();

  /** The index reads files of the workspace, so it is closed first. */
  async function close(workspace: OpenedWorkspace, isRemoved: boolean): Promise<void> {
    await (isRemoved ? codeIndexes?.remove(workspace.key) : codeIndexes?.close(workspace.key));
    await workspace.close({ isRemoved });
  }

  return {
    directly: openDirectly,
    /** Throws `E_OTHER_SERVER`. */
    of(record: WorkspaceRecord): OpenedWorkspace {
      options.mustBeHere?.(record);
      const namespace = namespaceOf(record.accountId, record.id);
      const { storage, quota, home } = record.config;
      const setting = JSON.stringify([storage, quota, home]);
      const known = entries.get(namespace);
      if (known?.storage === setting) return known.workspace;
      // Its storage settings changed: close it and reopen.
      if (known) void close(known.workspace, false).catch(() => {});
      const kind = home === undefined ? storage.provider : 'runner';
      const make = Object.hasOwn(storages, kind) ? storages[kind] : undefined;
      if (!make)
        throw new AppError(
          'E_STORAGE_FAILED',
          `this server cannot open workspaces with the storage ${storage.provider}`,
          {
            hint: 'Nothing was done. Ask the operator, or give the workspace another config.storage.provider.',
          },
        );
      const opened = make(record, namespace);
      const { accountId } = record;
      entries.set(namespace, { workspace: opened, accountId, storage: setting, isInBucket: kind === 's3' });
      return opened;
    },
    /** Secrets of the account changed. Closes its workspaces in buckets; each reopens at its next use. */
    async reopen(accountId: string): Promise<void> {
      const those = [...entries.values()].filter((known) => known.accountId === accountId && known.isInBucket);
      await Promise.all(those.map(({ workspace }) => close(workspace, false)));
    },
    /** Stores and closes a workspace that another server may open. Each later use opens it again. */
    async release(namespace: string): Promise<void> {
      const known = entries.get(namespace);
      if (known) await close(known.workspace, false);
    },
    async remove(namespace: string): Promise<void> {
      const known = entries.get(namespace);
      entries.delete(namespace);
      if (known) await close(known.workspace, true);
    },
    async close(): Promise<void> {
      const all = [...entries.values()];
      entries.clear();
      await Promise.all(all.map(({ workspace }) => close(workspace, false)));
    },
  };
}
