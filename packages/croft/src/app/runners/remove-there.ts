import type { Emit } from '../../core/events.ts';
import { isInBucket } from '../../core/runners/home.ts';
import type { WorkspaceRecord } from '../places.ts';
import type { Fleet } from './fleet.ts';
import type { FleetPlaces } from './fleet-places.ts';

export interface RemovalThere {
  readonly fleet: Pick<Fleet, 'candidates'>;
  readonly remote: Pick<FleetPlaces, 'remove'>;
  readonly emit: Emit;
  onWarning(message: string): void;
}

/**
 * Takes away what runners have of a workspace. The record goes all the same where a machine is not there or refuses: what
 * is left on it is told, because nobody else will know of it. Answers whether there was anything.
 */
export function createRemovalThere({ fleet, remote, emit, onWarning }: RemovalThere) {
  return async (record: WorkspaceRecord): Promise<boolean> => {
    const { home } = record.config;
    const removed = home === undefined ? false : await remove(record, home);
    // Any of them may have worked in what is in a bucket. What is left of that is a copy.
    const others = isInBucket(record) ? fleet.candidates(record.accountId).filter(({ name }) => name !== home) : [];
    await Promise.allSettled(others.map(({ name }) => remote.remove(record, name)));
    return removed;
  };

  async function remove(record: WorkspaceRecord, runner: string): Promise<boolean> {
    try {
      return await remote.remove(record, runner);
    } catch (thrown) {
      const reason = thrown instanceof Error ? thrown.message : String(thrown);
      emit('lifecycle.workspace.left', () => ({ account: record.accountId, workspace: record.id, runner, reason }));
      onWarning(`the files of workspace ${record.id} are still on the runner ${runner}: ${reason}`);
      return false;
    }
  }
}
