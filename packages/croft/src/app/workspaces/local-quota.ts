import { recordCall } from '../../core/history/checkpoints/wrap-with-history.ts';
import type { History } from '../../core/history/ports/history.ts';
import type { WorkingTree } from '../../core/history/ports/working-tree.ts';
import { guardCalls } from '../../core/quota/guard-calls.ts';
import {
  type AccountStorage,
  createQuotaGuard,
  type DiskCapacity,
  type QuotaGuard,
} from '../../core/quota/quota-guard.ts';
import type { WorkspaceQuota } from '../../core/storage/stored-mount.ts';
import type { OpenedWorkspace } from './opened-workspaces.ts';
import type { HistoryShare, WorkspaceHistories } from './workspace-histories.ts';

export interface LocalQuotaOptions {
  readonly quota?: WorkspaceQuota | undefined;
  readonly account?: AccountStorage | undefined;
  /** Free space on the disk of the data directory. Without it, the disk may be filled. */
  readonly disk?: DiskCapacity | undefined;
  /** Storage that all histories of the account share. */
  readonly historyShare?: HistoryShare | undefined;
  readonly histories: WorkspaceHistories;
}

/**
 * Enforces quotas on a directory of this machine, whichever way it is changed. Returns nothing if there are no quotas.
 */
export function openLocalQuota(handle: number, options: LocalQuotaOptions): QuotaGuard | undefined {
  const { quota, account, disk, historyShare, histories } = options;
  const tree = () => histories.rawTreeOf(handle);
  const giving = account && shrinkHistoryWhenFull(account, () => histories.shrink(handle));
  const guard = quota || account ? createQuotaGuard({ quota, account: giving, disk, tree }) : undefined;
  histories.setBounds(handle, { guard, share: historyShare });
  return guard;
}

interface QuotaWrapOptions {
  readonly guard: QuotaGuard;
  readonly history: History | undefined;
  tree(): Promise<WorkingTree>;
}

/** The history wraps the quota check, so it records nothing for a call that the quota reverted. */
export function wrapWithQuota({ guard, history, tree }: QuotaWrapOptions): OpenedWorkspace['wrapCall'] {
  const within = guardCalls({ guard, tree });
  if (!history) return within;
  return (call, work) => recordCall(history, call, (telling) => within(call, () => work(telling)));
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
