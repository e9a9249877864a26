import { isInBucket } from '../../core/accounts/surface/workspace-location.ts';
import type { WorkspaceRecord } from '../workspaces/opened-workspaces.ts';
import type { Fleet } from './fleet.ts';
import type { FleetWorkspaces } from './fleet-workspaces.ts';
import type { PendingRemovals } from './pending-removals.ts';

interface RunnerRemovalOptions {
  readonly fleet: Pick<Fleet, 'candidates'>;
  readonly remote: Pick<FleetWorkspaces, 'remove'>;
  readonly pending: Pick<PendingRemovals, 'deleteRow' | 'reportLeft'>;
}

/**
 * Removes the files of a workspace from runners. The record is removed even if a runner is away or refuses: what is
 * left is reported, and the removal stays pending. Returns whether a runner had files.
 */
export function createRunnerRemoval({ fleet, remote, pending }: RunnerRemovalOptions) {
  return async (record: WorkspaceRecord): Promise<boolean> => {
    const { home } = record.config;
    const removed = home === undefined ? false : await removeOrReport(record, home);
    // Any runner of the account may have a working copy of a workspace in a bucket. A leftover is only a copy.
    const others = isInBucket(record) ? fleet.candidates(record.accountId).filter(({ name }) => name !== home) : [];
    await Promise.allSettled(others.map(({ name }) => remove(record, name)));
    return removed;
  };

  async function removeOrReport(record: WorkspaceRecord, runner: string): Promise<boolean> {
    try {
      return await remove(record, runner);
    } catch (thrown) {
      await pending.reportLeft(record, runner, thrown);
      return false;
    }
  }

  async function remove(record: WorkspaceRecord, runner: string): Promise<boolean> {
    const removed = await remote.remove(record, runner);
    await pending.deleteRow(record, runner);
    return removed;
  }
}
