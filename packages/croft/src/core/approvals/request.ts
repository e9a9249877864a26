import { AppError } from '@croft/protocol';
import { newId } from '../../lib/ids.ts';
import type { ApprovalRow, ApprovalTable, Records } from '../accounts/records.ts';
import type { Vault } from '../accounts/vault.ts';
import { callerOf, toAuditEntry } from './audit.ts';
import type { BoundCall } from './bound-call.ts';
import { isOver, later, type Now } from './change-row.ts';
import { claim } from './claims.ts';
import { sealContent } from './content.ts';
import type { Outcome } from './outcome.ts';

export interface RequestOptions {
  readonly records: Records;
  readonly vault: Vault;
  readonly now: Now;
  /** For how long somebody may decide, and the call may be made once they have. */
  readonly ttlMs: number;
}

/** Of one agent. A person who has this many to look at looks at none. */
const maxPending = 100;

/** Puts a call before a person, unless that was done in the meantime. */
export function createRequest({ records, vault, now, ttlMs }: RequestOptions) {
  return async function request(call: BoundCall): Promise<{ outcome: Outcome; isNew: boolean }> {
    const row = await toRow(call);
    return records.change(async (tables) => {
      const outcome = await claim(tables, call, undefined, now());
      if (outcome.kind !== 'none') return { outcome, isNew: false };
      await checkRoom(tables.approvals, row);
      await tables.approvals.insert(row);
      await tables.audit.append([toAuditEntry(row, 'requested', callerOf(row), now())]);
      return { outcome: { kind: 'pending', row }, isNew: true };
    });
  };

  async function toRow(call: BoundCall): Promise<ApprovalRow> {
    const { accountId, agentId, session, tool, workspace, hash, input, inbox } = call;
    const approvalId = newId('ap');
    const preview = await call.preview();
    const content = sealContent(vault, { accountId, approvalId }, { input, preview, inbox });
    const at = now();
    const times = { createdAt: at.toISOString(), expiresAt: later(at, ttlMs) };
    const of = { accountId, approvalId, agentId, session, tool, workspace, content, hash };
    return { ...of, state: 'pending', scope: 'once', ...times, version: 1 };
  }

  async function checkRoom(approvals: ApprovalTable, { accountId, agentId }: ApprovalRow): Promise<void> {
    const { rows } = await approvals.list(accountId, { state: 'pending', agentId }, { limit: maxPending });
    if (rows.length < maxPending || rows.some((row) => isOver(row, now()))) return;
    throw new AppError('E_TOO_MANY', `${maxPending} calls of this agent wait for a person already`, {
      details: { agentId, pending: maxPending },
    });
  }
}
