import { AppError } from '@croft/protocol';
import type { WorkingTree } from '../history/ports/working-tree.ts';
import type { WorkspaceCall, WrapCall } from '../workspace/workspace.ts';
import { checkQuota, isOverQuota, type StorageUse } from './check-quota.ts';
import type { QuotaGuard } from './quota-guard.ts';
import { type Baseline, revertToBaseline, takeBaseline } from './revert-to-baseline.ts';
import { revertedCallError } from './reverted-call-error.ts';

interface QuotaWrapperOptions {
  readonly guard: QuotaGuard;
  tree(): Promise<WorkingTree>;
}

interface Before extends Baseline {
  readonly held: StorageUse;
}

/** Calls are not measured while the account has more than this left: no sandbox grows by more. */
const nearBytes = 16 * 1024 ** 3;

/**
 * Wraps calls whose changes are not known in advance: commands, and formatters after an edit. Growth above the quota is
 * reverted, and the call is refused. Commands do not start above the quota: not everything they write can be reverted,
 * so that an overrun happens only once.
 */
export function guardCalls({ guard, tree: openTree }: QuotaWrapperOptions): WrapCall {
  const { quota = {}, account, disk } = guard;
  const isNear = () => account !== undefined && account.left() < nearBytes;
  const isWatched = ({ access, leavesFiles }: WorkspaceCall): boolean | undefined =>
    access !== 'read' &&
    !leavesFiles &&
    (guard.quota !== undefined || (access === 'execute' && (isNear() || disk?.isShort())));

  function check(before: StorageUse, after: StorageUse): void {
    checkQuota(before, after, quota);
    const grown = after.bytes - before.bytes;
    if (grown <= 0) return;
    // The bytes are already on the disk: only the remaining space is checked.
    disk?.mustHave(0);
    account?.mustHave(grown);
    account?.charge(grown);
  }

  /** Reverts the changes of a call that exceed the quota, and then throws `E_QUOTA`. */
  async function enforce(tree: WorkingTree, before: Before): Promise<void> {
    const after = await tree.totals();
    try {
      check(before.held, after);
    } catch (thrown) {
      if (AppError.from(thrown).code === 'E_STORAGE_FULL') disk?.pacing?.reportGrowth();
      const taken = await guard.alone(() => revertToBaseline(tree, before));
      throw revertedCallError(AppError.from(thrown), taken, isOverQuota(await tree.totals(), quota));
    }
  }

  return async (call, work) => {
    if (call.access === 'execute') await account?.ready();
    if (!isWatched(call)) return work();
    if (call.access === 'execute') await disk?.pacing?.waitForTurn(call.signal);
    const tree = await openTree();
    await guard.mustRun(call);
    const held = await tree.totals();
    const before = { ...(await takeBaseline(tree)), held };
    try {
      return await work();
    } finally {
      // Also counts what a call wrote before it failed or was cancelled.
      await enforce(tree, before);
    }
  };
}
