import type { ApprovalRow } from '../accounts/ports/call-tables.ts';
import type { Records } from '../accounts/ports/records.ts';
import { toAuditEntry } from './approval-audit.ts';
import { changeRow, expireRow, type Now } from './approval-rows.ts';
import type { Decision } from './approvals.ts';
import { cutVisible } from './visible-text.ts';

export type ApprovalKey = Pick<ApprovalRow, 'accountId' | 'approvalId'>;

const maxReasonChars = 2000;

/** Records a decision if the approval is pending. `isNew`: this decision decided it. */
export function createRecordDecision(records: Records, now: Now) {
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
