import type { Files } from '../../core/files/files.ts';
import { recordCall } from '../../core/history/checkpoints/wrap-with-history.ts';
import type { History } from '../../core/history/ports/history.ts';
import type { WorkingTree } from '../../core/history/ports/working-tree.ts';
import { guardCalls } from '../../core/quota/guard-calls.ts';
import { guardFiles } from '../../core/quota/guard-files.ts';
import {
  type AccountStorage,
  createQuotaGuard,
  type DiskCapacity,
  type QuotaGuard,
} from '../../core/quota/quota-guard.ts';
import type { WorkspaceQuota } from '../../core/storage/stored-mount.ts';
import type { WorkspaceMount } from '../../core/storage/workspace-mount.ts';
import type { WrapCall } from '../../core/workspace/workspace.ts';
import { realpathOf } from '../../lib/files/workspace-owner.ts';
import type { OpenedWorkspace } from './opened-workspaces.ts';
import type { HistoryShare, WorkspaceHistories } from './workspace-histories.ts';

export interface LocalWorkspacePartsOptions {
  readonly quota?: WorkspaceQuota | undefined;
  readonly account?: AccountStorage | undefined;
  /** Free space on the disk of the data directory. Without it, the disk may be filled. */
  readonly disk?: DiskCapacity | undefined;
  /** Storage that all histories of the account share. */
  readonly historyShare?: HistoryShare | undefined;
  readonly histories: WorkspaceHistories;
}

/** A directory of this machine with its quota and its history. */
export interface LocalWorkspaceParts
  extends Pick<
    OpenedWorkspace,
    'key' | 'directoryFd' | 'mustBeThere' | 'tree' | 'history' | 'left' | 'checkQuota' | 'watch'
  > {
  /** Absent: the workspace has no quota, and a call needs nothing but its record in the history. */
  readonly wrapCall?: WrapCall | undefined;
  /** Applies the quota to the files of this directory, under any name. */
  guarded(files: Files): Files;
}

/** Opens the parts of every workspace that is a directory of this machine. The quota holds for all its users. */
export function openLocalWorkspaceParts(
  mount: Pick<WorkspaceMount, 'handle' | 'mustBeThere'>,
  options: LocalWorkspacePartsOptions,
): LocalWorkspaceParts {
  const { handle, mustBeThere } = mount;
  const { histories } = options;
  const guard = openGuard(handle, options);
  const history = histories.of(handle);
  return {
    ...{ key: realpathOf(handle), directoryFd: async () => handle, mustBeThere, history },
    tree: () => histories.treeOf(handle),
    watch: (onChange, signal) => histories.watch(handle, onChange, signal),
    ...(guard && { left: guard.left, checkQuota: guard.mustHaveRoom }),
    wrapCall: guard && wrapWithQuota(guard, history, () => histories.rawTreeOf(handle)),
    guarded: (files) => (guard ? guardFiles(files, guard) : files),
  };
}

/** Creates the guard of the quotas, whichever way the directory is changed. Returns nothing if there are no quotas. */
function openGuard(handle: number, options: LocalWorkspacePartsOptions): QuotaGuard | undefined {
  const { quota, account, disk, historyShare, histories } = options;
  const tree = () => histories.rawTreeOf(handle);
  const giving = account && shrinkHistoryWhenFull(account, () => histories.shrink(handle));
  const guard = quota || account ? createQuotaGuard({ quota, account: giving, disk, tree }) : undefined;
  histories.setBounds(handle, { guard, share: historyShare });
  return guard;
}

/** The history wraps the quota check, so it records nothing for a call that the quota reverted. */
function wrapWithQuota(guard: QuotaGuard, history: History | undefined, tree: () => Promise<WorkingTree>): WrapCall {
  const within = guardCalls({ guard, tree });
  if (!history) return within;
  return (call, work) => recordCall(history, call, (reporter) => within(call, () => work(reporter)));
}

/** Shrinks the history when a write finds no space, so that a later write succeeds if the history took the space. */
function shrinkHistoryWhenFull(account: AccountStorage, shrink: () => Promise<void>): AccountStorage {
  let isShrinking = false;
  async function shrinkOnce(): Promise<void> {
    if (isShrinking) return;
    isShrinking = true;
    await shrink();
    account.invalidate();
    isShrinking = false;
  }
  return {
    ...account,
    mustHave(bytes) {
      try {
        account.mustHave(bytes);
      } catch (thrown) {
        void shrinkOnce();
        throw thrown;
      }
    },
  };
}
