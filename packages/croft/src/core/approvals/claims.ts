import { isId } from '../../lib/ids.ts';
import type { ApprovalRow, ApprovalTable, Tables } from '../accounts/records.ts';
import { callerOf, toAuditEntry } from './audit.ts';
import { type BoundCall, isOf } from './bound-call.ts';
import { changeRow, expireRow, isOver, later } from './change-row.ts';
import type { Outcome } from './outcome.ts';

/** Once its caller knows of a denial, the same call is refused for so long, and may then be asked for anew. */
const denialHoldsMs = 60_000;

/**
 * How it stands with a call, by the approval it names, else by the newest there is of it. What was approved for one call
 * is used up by this, in the same change, so that of many calls at once exactly one gets it.
 */
export async function claim(
  tables: Tables,
  call: BoundCall,
  approvalId: string | undefined,
  now: Date,
): Promise<Outcome> {
  if (approvalId === undefined) return claimNewest(tables, call, now);
  const row = isId('ap', approvalId) ? await tables.approvals.get(call.accountId, approvalId) : undefined;
  // One answer for what is not there and what is not theirs.
  return row && isOf(row, call) ? judge(tables, row, now) : { kind: 'foreign' };
}

async function claimNewest(tables: Tables, call: BoundCall, now: Date): Promise<Outcome> {
  const row = await tables.approvals.byHash(call.accountId, call.session, call.hash);
  if (!row || !isOf(row, call)) return { kind: 'none' };
  if (row.state === 'denied' && isOver(row, now)) return { kind: 'none' };
  const outcome = await judge(tables, row, now);
  return outcome.kind === 'used' || outcome.kind === 'expired' ? { kind: 'none' } : outcome;
}

async function judge(tables: Tables, found: ApprovalRow, now: Date): Promise<Outcome> {
  const row = await expireRow(tables.approvals, found, now);
  if (row.state === 'denied') return { kind: 'denied', row: await deliver(tables.approvals, row, now) };
  if (row.state !== 'approved') return { kind: row.state, row };
  await tables.audit.append([toAuditEntry(row, 'used', callerOf(row), now)]);
  if (row.scope === 'session') return { kind: 'run', row };
  return { kind: 'run', row: await changeRow(tables.approvals, row, { state: 'used' }) };
}

/** A denial waits for its caller as long as an approval would. Once delivered it does not stand for long. */
async function deliver(approvals: ApprovalTable, row: ApprovalRow, now: Date): Promise<ApprovalRow> {
  const expiresAt = later(now, denialHoldsMs);
  return expiresAt < row.expiresAt ? changeRow(approvals, row, { expiresAt }) : row;
}
