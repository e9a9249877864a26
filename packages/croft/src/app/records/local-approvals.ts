import { createApprovals } from '../../core/approvals/create-approvals.ts';
import type { Emit } from '../../core/events/emitter.ts';
import { openSealedRecords, type SealedRecordsOptions } from './open-records.ts';

interface LocalApprovalsOptions extends Omit<SealedRecordsOptions, 'databaseUrl'> {
  readonly emit: Emit;
}

const approvalMs = 60 * 60_000;

/** Approvals for workspaces that flags name. They are in the data directory, where `croft approvals` reads them. */
export async function openLocalApprovals({ data, keys, emit }: LocalApprovalsOptions) {
  const { records, vault } = await openSealedRecords({ data, keys });
  const { approvals, approvalInbox } = createApprovals({
    records,
    vault,
    emit,
    now: () => new Date(),
    ttlMs: approvalMs,
  });
  return { approvals, approvalInbox, close: () => records[Symbol.asyncDispose]() };
}
