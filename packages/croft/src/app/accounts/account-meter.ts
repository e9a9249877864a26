import { join } from 'node:path';
import { measureTree } from '../../lib/disk-space/measure-tree.ts';
import { cacheDirectoryFor } from '../../lib/files/cache-directory.ts';
import { realpathOrSelf } from '../../lib/files/workspace-owner.ts';
import { type DataDirectory, namespaceOf } from '../../storages/index.ts';
import { basesDirectory } from '../forks/local-forks.ts';
import type { Overlays } from '../forks/overlays.ts';
import { indexDirectory } from '../workspaces/code-indexes-of-workspaces.ts';
import type { WorkspaceHistories } from '../workspaces/workspace-histories.ts';
import type { AccountUsage } from './account-quota.ts';

interface AccountMeterOptions {
  readonly data: string;
  readonly localWorkspaces: DataDirectory;
  readonly histories: WorkspaceHistories;
  readonly layered: Overlays;
  workspacesOf(accountId: string): Promise<readonly string[]>;
}

/** Measures everything that an account stores on this machine: files, package caches, forks, mounts and histories. */
export function createAccountMeter(options: AccountMeterOptions) {
  const { data, localWorkspaces, histories, layered } = options;

  function directoriesOf(accountId: string, id: string): { files: string[]; history: string[] } {
    const namespace = namespaceOf(accountId, id);
    const [directory, mount] = [localWorkspaces.directoryOf(namespace), join(data, 'mounts', namespace)];
    const [real, files] = [realpathOrSelf(directory), realpathOrSelf(join(mount, 'files'))];
    const fork = layered.forkDirectories.find(namespace);
    return {
      files: [
        // The lower layer of an overlay fork belongs to other workspaces.
        ...(fork?.kind === 'overlay' ? [] : [directory]),
        ...[join(data, 'forks', namespace), basesDirectory(layered, id), mount],
        ...(fork ? [join(fork.base, '..')] : []),
        ...[real, files].map((directory) => cacheDirectoryFor(join(data, 'caches'), directory)),
        ...[real, namespace].map((key) => indexDirectory(data, key)),
      ],
      history: [histories.directoryFor(real)],
    };
  }

  return async (accountId: string): Promise<AccountUsage> => {
    const all = (await options.workspacesOf(accountId)).map((id) => directoriesOf(accountId, id));
    const [files, historyBytes] = await Promise.all([
      measureAll(all.flatMap((sites) => sites.files)),
      measureAll(all.flatMap((sites) => sites.history)),
    ]);
    return { bytes: files + historyBytes, historyBytes };
  };
}

/** Counts each directory once, because several forks may share one base. */
async function measureAll(directories: readonly string[]): Promise<number> {
  let bytes = 0;
  for (const directory of new Set(directories)) bytes += await measureTree(directory);
  return bytes;
}
