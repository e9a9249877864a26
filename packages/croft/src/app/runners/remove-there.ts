import { isInBucket } from '../../core/runners/home.ts';
import type { WorkspaceRecord } from '../places.ts';
import type { Fleet } from './fleet.ts';
import type { FleetPlaces } from './fleet-places.ts';
import type { OwedRemovals } from './owed-removals.ts';

export interface RemovalThere {
  readonly fleet: Pick<Fleet, 'candidates'>;
  readonly remote: Pick<FleetPlaces, 'remove'>;
  readonly owed: Pick<OwedRemovals, 'settle' | 'leave'>;
}

/**
 * Takes away what runners have of a workspace. The record goes all the same where a machine is not there or refuses: what
 * is left on it is told, and stays owed. Answers whether there was anything.
 */
export function createRemovalThere({ fleet, remote, owed }: RemovalThere) {
  return async (record: WorkspaceRecord): Promise<boolean> => {
    const { home } = record.config;
    const removed = home === undefined ? false : await removeOrTell(record, home);
    // Any of them may have worked in what is in a bucket. What is left of that is a copy.
    const others = isInBucket(record) ? fleet.candidates(record.accountId).filter(({ name }) => name !== home) : [];
    await Promise.allSettled(others.map(({ name }) => remove(record, name)));
    return removed;
  };

  async function removeOrTell(record: WorkspaceRecord, runner: string): Promise<boolean> {
    try {
      return await remove(record, runner);
    } catch (thrown) {
      await owed.leave(record, runner, thrown);
      return false;
    }
  }

  async function remove(record: WorkspaceRecord, runner: string): Promise<boolean> {
    const removed = await remote.remove(record, runner);
    await owed.settle(record, runner);
    return removed;
  }
}
