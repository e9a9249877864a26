import type { ApprovalRow } from '../accounts/ports/call-tables.ts';
import type { ApprovalView } from '../accounts/ports/registry.ts';
import type { Vault } from '../accounts/ports/vault.ts';
import type { Emit } from '../events/emitter.ts';
import { openContent, toApprovalView } from './approval-content.ts';

/** The recipient of a request. */
export interface RequestedFor {
  readonly accountId: string;
  /** The session whose person is asked: the call's own, or a parent's. */
  readonly inbox: string;
}

export interface ApprovalEventsOptions {
  readonly vault: Vault;
  readonly emit: Emit;
  onRequested?(approval: ApprovalView, by: RequestedFor): void;
  /** Called when a decision is in the records. */
  onDecided?(approvalId: string): void;
}

/** Emits events about approvals, after they are in the records. */
export function createApprovalEvents({ vault, emit, onRequested, onDecided }: ApprovalEventsOptions) {
  return {
    requested(row: ApprovalRow): void {
      const { inbox = row.session } = openContent(vault, row);
      emit('lifecycle.approval.requested', () => ({ ...toFields(row), inbox, expires_at: row.expiresAt }));
      onRequested?.(toApprovalView(vault, row), { accountId: row.accountId, inbox });
    },
    decided(row: ApprovalRow): void {
      const { state, scope, decidedBy } = row;
      emit('lifecycle.approval.decided', () => ({ ...toFields(row), state, scope, decided_by: decidedBy }));
      onDecided?.(row.approvalId);
    },
    used(row: ApprovalRow): void {
      emit('lifecycle.approval.used', () => ({ ...toFields(row), scope: row.scope }));
    },
  };
}

function toFields({ approvalId, accountId, agentId, session, tool, workspace }: ApprovalRow) {
  return { approval: approvalId, account: accountId, agent: agentId, session, tool, workspace };
}
