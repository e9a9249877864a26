import { AppError } from '@croft/protocol';
import { refuseChange } from '../../core/runner-workspaces/read-only-workspace.ts';
import type { WorkspaceMount } from '../../core/storage/workspace-mount.ts';
import type { KeyedLock } from '../../lib/concurrency/keyed-lock.ts';
import { removeTree } from '../../lib/files/remove-tree.ts';
import { realpathOf, realpathOrSelf } from '../../lib/files/workspace-owner.ts';
import type { DataDirectory } from '../../storages/index.ts';
import { parentKeyOf, removeUnusedBases } from '../forks/local-forks.ts';
import type { Overlays } from '../forks/overlays.ts';
import type { WorkspaceHistories } from '../workspaces/workspace-histories.ts';
import type { BucketWorkspaces } from './bucket-workspaces.ts';
import { mustBeNamespace } from './open-workspace.ts';

interface RootWorkspaces {
  readonly localWorkspaces: DataDirectory;
  readonly buckets: BucketWorkspaces;
}

interface RunnerWorkspaceRemovalOptions {
  /** Workspaces that the operator of this runner named. A server cannot remove them. */
  readonly named: ReadonlyMap<string, WorkspaceMount>;
  /** Workspaces below the runner's root. Without it, there is nothing to remove. */
  readonly made?: RootWorkspaces | undefined;
  readonly histories: WorkspaceHistories;
  readonly layered: Overlays;
  readonly isReadOnly: boolean;
  /** Locks by namespace, so that a fork is removed only after it was made. */
  readonly lock: KeyedLock;
  /** Called before the workspace's handle is closed. */
  forget(handle: number): void;
  /** Ends what answers questions about its code, and removes its index. `key` is that of the workspace's parts. */
  removeCode(key: string): Promise<void>;
}

/** Removes a workspace that this runner made below its root, with its history. */
export function createRunnerWorkspaceRemoval(options: RunnerWorkspaceRemovalOptions) {
  const { named, made, histories, layered, isReadOnly, lock, forget, removeCode } = options;

  return async (namespace: string): Promise<boolean> => {
    mustBeNamespace(namespace);
    if (isReadOnly) return refuseChange();
    return made ? lock.run(namespace, () => remove(namespace, made)) : false;
  };

  async function remove(namespace: string, { localWorkspaces, buckets }: RootWorkspaces): Promise<boolean> {
    // The startup sweep may be removing the same fork: two removals would delete what the other one needs.
    await layered.swept;
    for (const workspaces of [localWorkspaces, buckets]) mustBeMade(workspaces.directoryOf(namespace));
    await removeCode(namespace);
    await buckets.remove(namespace);
    const mount = localWorkspaces.find(namespace);
    if (mount) await forgetHistory(mount.handle);
    const parent = parentKeyOf(layered, namespace);
    const isRemoved = mount !== undefined && (await localWorkspaces.remove(namespace));
    await removeUnusedBases(layered, namespace);
    // The fork may have been the last user of its parent's bases. Nobody else drops them if the parent is gone or not
    // open.
    if (parent !== undefined && !layered.followedBases.has(parent)) await removeUnusedBases(layered, parent);
    return isRemoved;
  }

  async function forgetHistory(handle: number): Promise<void> {
    const history = histories.directoryOf(handle);
    await removeCode(realpathOf(handle));
    forget(handle);
    await histories.forget(handle);
    await removeTree(history);
  }

  /** Rejects a directory that the operator named later, even if this runner once made it. */
  function mustBeMade(directory: string): void {
    const own = `${realpathOrSelf(directory)}/`;
    if ([...named.values()].some(({ directory: given }) => `${given}/`.startsWith(own)))
      throw new AppError(
        'E_FORBIDDEN',
        'the operator of this runner named that directory with --workspaces, and has to remove it there',
      );
  }
}
