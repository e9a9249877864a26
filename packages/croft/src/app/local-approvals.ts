import { createApprovals } from '../core/approvals/create-approvals.ts';
import type { Emit } from '../core/events.ts';
import { openSealedRecords, type SealedOptions } from './open-records.ts';

export interface LocalApprovalsOptions extends Omit<SealedOptions, 'databaseUrl'> {
  readonly emit: Emit;
}

const approvalMs = 60 * 60_000;

/** Approvals of workspaces that were given by flags: in the data directory, where `croft approvals` finds them. */
export async function openLocalApprovals({ data, keys, emit }: LocalApprovalsOptions) {
  const { records, vault } = await openSealedRecords({ data, keys });
  const { approvals, desk } = createApprovals({ records, vault, emit, now: () => new Date(), ttlMs: approvalMs });
  return { approvals, desk, close: () => records[Symbol.asyncDispose]() };
}
