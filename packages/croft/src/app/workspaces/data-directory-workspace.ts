import { allowControlFiles } from '../../core/files/allow-control-files.ts';
import { wrapWithHistory } from '../../core/history/checkpoints/wrap-with-history.ts';
import type { WrapCall } from '../../core/workspace/workspace.ts';
import type { DataDirectory } from '../../storages/index.ts';
import { type LocalWorkspacePartsOptions, openLocalWorkspaceParts } from './local-workspace-parts.ts';
import type { OpenedWorkspace } from './opened-workspaces.ts';

interface DataDirectoryWorkspaceOptions extends LocalWorkspacePartsOptions {
  readonly localWorkspaces: DataDirectory;
  /** Removes the history of a removed workspace. */
  removeHistory(directory: string): Promise<void>;
}

const runUnwrapped: WrapCall = (_, work) => work();

/** Opens a workspace in the data directory. */
export function openDataDirectoryWorkspace(namespace: string, options: DataDirectoryWorkspaceOptions): OpenedWorkspace {
  const { localWorkspaces, histories, removeHistory } = options;
  const mount = localWorkspaces.open(namespace, namespace);
  const { guarded, wrapCall, ...parts } = openLocalWorkspaceParts(mount, options);
  return {
    ...parts,
    named(name) {
      const { root, files } = localWorkspaces.open(namespace, name);
      return { root, files: guarded(allowControlFiles(files, { names: histories.allowControl })) };
    },
    wrapCall: wrapCall ?? (parts.history ? wrapWithHistory(parts.history) : runUnwrapped),
    async close({ isRemoved }) {
      const history = histories.directoryOf(mount.handle);
      await histories.forget(mount.handle);
      if (isRemoved) await removeHistory(history);
    },
  };
}
