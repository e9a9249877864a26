import type { ApprovalRow } from '../accounts/records.ts';
import type { ApprovalView } from '../accounts/registry.ts';
import type { Vault } from '../accounts/vault.ts';
import type { Emit } from '../events.ts';
import { openContent, toView } from './content.ts';

/** Whom a request is for. */
export interface RequestedFor {
  readonly accountId: string;
  /** The session whose person is asked: the call's own, or a parent's. */
  readonly inbox: string;
}

export interface TellOptions {
  readonly vault: Vault;
  readonly emit: Emit;
  onRequested?(approval: ApprovalView, by: RequestedFor): void;
}

/** Lets whoever listens know, once it is in the records. */
export function createTelling({ vault, emit, onRequested }: TellOptions) {
  return {
    requested(row: ApprovalRow): void {
      const { inbox = row.session } = openContent(vault, row);
      emit('lifecycle.approval.requested', () => ({ ...toFields(row), inbox, expires_at: row.expiresAt }));
      onRequested?.(toView(vault, row), { accountId: row.accountId, inbox });
    },
    decided(row: ApprovalRow): void {
      const { state, scope, decidedBy } = row;
      emit('lifecycle.approval.decided', () => ({ ...toFields(row), state, scope, decided_by: decidedBy }));
    },
    used(row: ApprovalRow): void {
      emit('lifecycle.approval.used', () => ({ ...toFields(row), scope: row.scope }));
    },
  };
}

function toFields({ approvalId, accountId, agentId, session, tool, workspace }: ApprovalRow) {
  return { approval: approvalId, account: accountId, agent: agentId, session, tool, workspace };
}
