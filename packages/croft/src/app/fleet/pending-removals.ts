import { AppError } from '@croft/protocol';
import type { RemovalRow } from '../../core/accounts/ports/account-tables.ts';
import { readEveryPage } from '../../core/accounts/ports/read-every-page.ts';
import type { Records } from '../../core/accounts/ports/records.ts';
import type { Emit } from '../../core/events/emitter.ts';
import { errorMessage } from '../../lib/error-message.ts';
import type { WorkspaceRecord } from '../workspaces/opened-workspaces.ts';

interface PendingRemovalsOptions {
  readonly records: Records;
  /** How long after the record's removal the files' removal is retried. */
  readonly retryMs: number;
  readonly emit: Emit;
  onWarning(message: string): void;
}

type Gone = Pick<WorkspaceRecord, 'accountId' | 'id'>;

export type PendingRemovals = ReturnType<typeof createPendingRemovals>;

/**
 * Removals that runners still have to do for workspaces without a record. The row is written together with the record's
 * removal.
 */
export function createPendingRemovals({ records, retryMs, emit, onWarning }: PendingRemovalsOptions) {
  /**
   * Deletes the row of a removal. Returns whether there was one. If the row cannot be deleted, the runner is asked once
   * more.
   */
  async function deleteRow({ accountId, id }: Gone, runner: string): Promise<boolean> {
    try {
      return await records.change(({ removals }) => removals.remove(accountId, id, runner));
    } catch (thrown) {
      onWarning(`the removal of workspace ${id} from the runner ${runner} was not recorded: ${thrown}`);
      return false;
    }
  }

  async function retriedUntil({ accountId, id }: Gone, runner: string): Promise<string | undefined> {
    const row = await records.read(({ removals }) => removals.get(accountId, id, runner)).catch(() => undefined);
    return row && new Date(Date.parse(row.createdAt) + retryMs).toISOString();
  }

  return {
    deleteRow,
    list: (accountId: string, runner: string): Promise<RemovalRow[]> =>
      records.read(({ removals }) => readEveryPage((page) => removals.list(accountId, runner, page))),
    /** Reports files that are still on a runner, and until when the removal is retried. Never throws. */
    async reportLeft(gone: Gone, runner: string, thrown: unknown): Promise<void> {
      const reason = errorMessage(thrown);
      // The operator of the runner named this directory. The retry ends here, so the files stay even after the operator
      // stops naming it.
      if (isRefusal(thrown)) await deleteRow(gone, runner);
      const until = await retriedUntil(gone, runner);
      emit('lifecycle.workspace.left', () => ({
        ...{ account: gone.accountId, workspace: gone.id, runner, reason },
        ...(until !== undefined && { until }),
      }));
      const next = until === undefined ? 'there is no retry' : `the next retry is when it connects, until ${until}`;
      onWarning(`the files of workspace ${gone.id} are still on the runner ${runner}: ${reason}; ${next}`);
    },
    /** Reports that a runner has no files of the workspace any more. */
    async reportRemoved(gone: Gone, runner: string): Promise<void> {
      if (!(await deleteRow(gone, runner))) return;
      emit('lifecycle.workspace.gone', () => ({ account: gone.accountId, workspace: gone.id, runner }));
    },
  };
}

export function isRefusal(thrown: unknown): boolean {
  return AppError.from(thrown).code === 'E_FORBIDDEN';
}
