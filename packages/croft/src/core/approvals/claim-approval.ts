import { isId } from '../../lib/ids.ts';
import type { ApprovalRow, ApprovalTable } from '../accounts/ports/call-tables.ts';
import type { Tables } from '../accounts/ports/records.ts';
import { callerOf, toAuditEntry } from './approval-audit.ts';
import type { ApprovalOutcome } from './approval-outcome.ts';
import { addMs, changeRow, expireRow, isExpired } from './approval-rows.ts';
import { type HashedCall, isForCall } from './hash-call.ts';

/**
 * After a caller has received a denial, the same call is refused for this time; after that it may be requested again.
 */
const denialHoldsMs = 60_000;

/**
 * Looks up the approval of a call: the one that the caller names, otherwise the newest. In the same transaction, an
 * approval with scope `once` is used up, so that exactly one of many concurrent calls gets it.
 */
export async function claimApproval(
  tables: Tables,
  call: HashedCall,
  approvalId: string | undefined,
  now: Date,
): Promise<ApprovalOutcome> {
  if (approvalId === undefined) return claimNewest(tables, call, now);
  const row = isId('ap', approvalId) ? await tables.approvals.get(call.accountId, approvalId) : undefined;
  // The same answer for a missing approval and for one of another account.
  return row && isForCall(row, call) ? judge(tables, row, now) : { kind: 'foreign' };
}

async function claimNewest(tables: Tables, call: HashedCall, now: Date): Promise<ApprovalOutcome> {
  const row = await tables.approvals.byHash(call.accountId, call.session, call.hash);
  if (!row || !isForCall(row, call)) return { kind: 'none' };
  if (row.state === 'denied' && isExpired(row, now)) return { kind: 'none' };
  const outcome = await judge(tables, row, now);
  return outcome.kind === 'used' || outcome.kind === 'expired' ? { kind: 'none' } : outcome;
}

async function judge(tables: Tables, found: ApprovalRow, now: Date): Promise<ApprovalOutcome> {
  const row = await expireRow(tables.approvals, found, now);
  if (row.state === 'denied') return { kind: 'denied', row: await deliver(tables.approvals, row, now) };
  if (row.state !== 'approved') return { kind: row.state, row };
  await tables.audit.append([toAuditEntry(row, 'used', callerOf(row), now)]);
  if (row.scope === 'session') return { kind: 'run', row };
  return { kind: 'run', row: await changeRow(tables.approvals, row, { state: 'used' }) };
}

/** A denial stays as long as an approval would. Once its caller has received it, it expires soon. */
async function deliver(approvals: ApprovalTable, row: ApprovalRow, now: Date): Promise<ApprovalRow> {
  const expiresAt = addMs(now, denialHoldsMs);
  return expiresAt < row.expiresAt ? changeRow(approvals, row, { expiresAt }) : row;
}
