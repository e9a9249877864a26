import type { ApprovalRow, AuditEntry } from '../accounts/ports/call-tables.ts';

type ApprovalAction = 'requested' | 'approved' | 'denied' | 'used';

/** Makes the audit row of an approval. It never contains the input, which only the deciding person may see. */
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

/** Returns the actor of the call, in the form of all audit rows. */
export function callerOf({ agentId, session }: Pick<ApprovalRow, 'agentId' | 'session'>): string {
  return `${agentId} ${session}`;
}
