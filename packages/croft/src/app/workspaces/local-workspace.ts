import { allowControlFiles } from '../../core/files/allow-control-files.ts';
import { wrapWithHistory } from '../../core/history/checkpoints/wrap-with-history.ts';
import { guardFiles } from '../../core/quota/guard-files.ts';
import { realpathOf } from '../../lib/files/workspace-owner.ts';
import type { DataDirectory } from '../../storages/index.ts';
import { type LocalQuotaOptions, openLocalQuota, wrapWithQuota } from './local-quota.ts';
import type { OpenedWorkspace } from './opened-workspaces.ts';

interface LocalWorkspaceOptions extends LocalQuotaOptions {
  readonly localWorkspaces: DataDirectory;
  /** Removes the history of a removed workspace. */
  removeHistory(place: string): Promise<void>;
}

/** Opens a workspace in the data directory. */
export function createLocalWorkspace(namespace: string, options: LocalWorkspaceOptions): OpenedWorkspace {
  const { localWorkspaces, histories, removeHistory } = options;
  const open = (name: string) => {
    const opened = localWorkspaces.open(namespace, name);
    return { ...opened, files: allowControlFiles(opened.files, { names: histories.allowControl }) };
  };
  const { handle, mustBeThere } = open(namespace);
  const guard = openLocalQuota(handle, options);
  const history = histories.of(handle);
  const plain: OpenedWorkspace['wrapCall'] = history ? wrapWithHistory(history) : (_, work) => work();
  return {
    key: realpathOf(handle),
    named(name) {
      const { root, files } = open(name);
      return { root, files: guard ? guardFiles(files, guard) : files };
    },
    directoryFd: async () => handle,
    mustBeThere,
    tree: () => histories.treeOf(handle),
    history,
    ...(guard && { left: guard.left, checkQuota: guard.mustHaveRoom }),
    wrapCall: guard ? wrapWithQuota({ guard, history, tree: () => histories.rawTreeOf(handle) }) : plain,
    watch: (onChange, signal) => histories.watch(handle, onChange, signal),
    async close({ isRemoved }) {
      const history = histories.directoryOf(handle);
      await histories.forget(handle);
      if (isRemoved) await removeHistory(history);
    },
  };
}
