import type { ApprovalRow, Records } from '../accounts/records.ts';
import type { Decision } from './approvals.ts';
import { toAuditEntry } from './audit.ts';
import { changeRow, expireRow, type Now } from './change-row.ts';
import { cutVisible } from './visible-text.ts';

export type ApprovalKey = Pick<ApprovalRow, 'accountId' | 'approvalId'>;

const maxReasonChars = 2000;

/** Records a decision, if there is one to make. `isNew`: it was this decision that settled it. */
export function createSettle(records: Records, now: Now) {
  return ({ accountId, approvalId }: ApprovalKey, decision: Decision, by: string) =>
    records.change(async (tables) => {
      const found = await tables.approvals.get(accountId, approvalId);
      const row = found && (await expireRow(tables.approvals, found, now()));
      if (row?.state !== 'pending') return { row, isNew: false };
      const decided = await changeRow(tables.approvals, row, toDecided(decision, by, now()));
      const action = decision.decision === 'approve' ? 'approved' : 'denied';
      await tables.audit.append([toAuditEntry(decided, action, by, now())]);
      return { row: decided, isNew: true };
    });
}

function toDecided({ decision, scope = 'once', reason }: Decision, by: string, now: Date): Partial<ApprovalRow> {
  return {
    ...(decision === 'approve' ? { state: 'approved', scope } : { state: 'denied' }),
    decidedAt: now.toISOString(),
    decidedBy: by,
    ...(reason !== undefined && { reason: cutVisible(reason, maxReasonChars) }),
  };
}
