import type { ApprovalRow, AuditEntry } from '../accounts/records.ts';

export type ApprovalAction = 'requested' | 'approved' | 'denied' | 'used';

/** What the trail says of it: never the input, which is for those who decide. */
export function toAuditEntry(row: ApprovalRow, action: ApprovalAction, actor: string, at: Date): AuditEntry {
  const { agentId, session, tool, workspace, hash, scope, reason } = row;
  const details = { agentId, session, tool, workspace, hash, scope, ...(action === 'denied' && { reason }) };
  return {
    accountId: row.accountId,
    at: at.toISOString(),
    actor,
    action: `approval.${action}`,
    target: row.approvalId,
    details: JSON.stringify(details),
  };
}

/** Whose call it is, as the trail says it of every call. */
export function callerOf({ agentId, session }: Pick<ApprovalRow, 'agentId' | 'session'>): string {
  return `${agentId} ${session}`;
}
