import { createApprovals } from '../../core/approvals/create-approvals.ts';
import type { Emit } from '../../core/events/emitter.ts';
import { openSealedRecords, type SealedRecordsOptions } from './open-records.ts';

interface LocalApprovalsOptions extends Omit<SealedRecordsOptions, 'databaseUrl'> {
  readonly emit: Emit;
}

/** The records of the person at this machine, and their approvals. */
export type LocalApprovals = Awaited<ReturnType<typeof openLocalApprovals>>;

const approvalMs = 60 * 60_000;

/** Approvals for workspaces that flags name. They are in the data directory, where `croft approvals` reads them. */
export async function openLocalApprovals({ data, keys, emit }: LocalApprovalsOptions) {
  const watchers: (() => void)[] = [];
  const onAuditRows = () => watchers.forEach((watch) => void watch());
  const { records, vault, trail } = await openSealedRecords({ data, keys, onAuditRows });
  const { approvals, approvalInbox } = createApprovals({
    records,
    vault,
    emit,
    now: () => new Date(),
    ttlMs: approvalMs,
  });
  return {
    ...{ approvals, approvalInbox, records, vault },
    verifyAudit: () => trail.verify(records),
    /** Calls the watcher after rows were added to the audit trail by this process. */
    watchRows: (watcher: () => void) => void watchers.push(watcher),
    close: () => records[Symbol.asyncDispose](),
  };
}
