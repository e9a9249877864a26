import { AppError } from '@croft/protocol';
import { readEveryPage } from '../../core/accounts/every-page.ts';
import type { Records, RemovalRow } from '../../core/accounts/records.ts';
import type { Emit } from '../../core/events.ts';
import type { WorkspaceRecord } from '../places.ts';

export interface OwedRemovalsMeans {
  readonly records: Records;
  /** For so long after its record is gone it is tried. */
  readonly keptMs: number;
  readonly emit: Emit;
  onWarning(message: string): void;
}

type Gone = Pick<WorkspaceRecord, 'accountId' | 'id'>;

export type OwedRemovals = ReturnType<typeof createOwedRemovals>;

/** What runners may still have of workspaces whose records are gone. It was noted with the removal of the record. */
export function createOwedRemovals({ records, keptMs, emit, onWarning }: OwedRemovalsMeans) {
  /** Answers whether it was owed. Where that cannot be written it is only asked for once more. */
  async function settle({ accountId, id }: Gone, runner: string): Promise<boolean> {
    try {
      return await records.change(({ removals }) => removals.remove(accountId, id, runner));
    } catch (thrown) {
      onWarning(`it was not noted that workspace ${id} is gone from the runner ${runner}: ${thrown}`);
      return false;
    }
  }

  async function untilWhen({ accountId, id }: Gone, runner: string): Promise<string | undefined> {
    const row = await records.read(({ removals }) => removals.get(accountId, id, runner)).catch(() => undefined);
    return row && new Date(Date.parse(row.createdAt) + keptMs).toISOString();
  }

  return {
    settle,
    list: (accountId: string, runner: string): Promise<RemovalRow[]> =>
      records.read(({ removals }) => readEveryPage((page) => removals.list(accountId, runner, page))),
    /** Tells what is still there, and until when it is tried again. Never throws. */
    async leave(gone: Gone, runner: string, thrown: unknown): Promise<void> {
      const reason = thrown instanceof Error ? thrown.message : String(thrown);
      // Its operator has it for themselves: the day on which they no longer name it is not one to take it away.
      if (isRefusal(thrown)) await settle(gone, runner);
      const until = await untilWhen(gone, runner);
      emit('lifecycle.workspace.left', () => ({
        ...{ account: gone.accountId, workspace: gone.id, runner, reason },
        ...(until !== undefined && { until }),
      }));
      const next = until === undefined ? 'nobody tries again' : `tried again when it is next there, until ${until}`;
      onWarning(`the files of workspace ${gone.id} are still on the runner ${runner}: ${reason}; ${next}`);
    },
    /** Tells that nothing of it is there any more. */
    async pay(gone: Gone, runner: string): Promise<void> {
      if (!(await settle(gone, runner))) return;
      emit('lifecycle.workspace.gone', () => ({ account: gone.accountId, workspace: gone.id, runner }));
    },
  };
}

export function isRefusal(thrown: unknown): boolean {
  return AppError.from(thrown).code === 'E_FORBIDDEN';
}
