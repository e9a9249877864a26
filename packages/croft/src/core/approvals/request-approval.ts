import { AppError } from '@croft/protocol';
import { newId } from '../../lib/ids.ts';
import type { ApprovalRow, ApprovalTable } from '../accounts/ports/call-tables.ts';
import type { Records, Tables } from '../accounts/ports/records.ts';
import type { Vault } from '../accounts/ports/vault.ts';
import { callerOf, toAuditEntry } from './approval-audit.ts';
import { sealContent } from './approval-content.ts';
import type { ApprovalOutcome } from './approval-outcome.ts';
import { addMs, expireRow, isExpired, type Now } from './approval-rows.ts';
import { claimApproval } from './claim-approval.ts';
import { type HashedCall, isForCall } from './hash-call.ts';

export interface RequestApprovalOptions {
  readonly records: Records;
  readonly vault: Vault;
  readonly now: Now;
  /** How long a person may decide, and how long the call may be made after that. */
  readonly ttlMs: number;
  /** How many calls of one agent may wait at once. Absent: 100, because a person with more to review reviews none. */
  readonly maxPending?: number | undefined;
}

const holds: ReadonlySet<string> = new Set(['pending', 'approved', 'denied']);

/** Requests an approval, unless another call has done so in the meantime. */
export function createRequestApproval({ records, vault, now, ttlMs, maxPending = 100 }: RequestApprovalOptions) {
  return {
    async request(call: HashedCall): Promise<{ outcome: ApprovalOutcome; isNew: boolean }> {
      const row = await toRow(call);
      return records.change(async (tables) => {
        const outcome = await claimApproval(tables, call, undefined, now());
        if (outcome.kind !== 'none') return { outcome, isNew: false };
        await insert(tables, row);
        return { outcome: { kind: 'pending', row }, isNew: true };
      });
    },

    /** Requests an approval, unless the call has one in some state that still holds. Uses up none. */
    async ask(call: HashedCall): Promise<{ row: ApprovalRow; isNew: boolean }> {
      const row = await toRow(call);
      return records.change(async (tables) => {
        const found = await tables.approvals.byHash(call.accountId, call.session, call.hash);
        const known = found && isForCall(found, call) ? await expireRow(tables.approvals, found, now()) : undefined;
        if (known && holds.has(known.state) && !isExpired(known, now())) return { row: known, isNew: false };
        await insert(tables, row);
        return { row, isNew: true };
      });
    },
  };

  async function insert({ approvals, audit }: Tables, row: ApprovalRow): Promise<void> {
    await mustBeBelowPendingLimit(approvals, row);
    await approvals.insert(row);
    await audit.append([toAuditEntry(row, 'requested', callerOf(row), now())]);
  }

  async function toRow(call: HashedCall): Promise<ApprovalRow> {
    const { accountId, agentId, session, tool, workspace, hash, input, inbox } = call;
    const approvalId = newId('ap');
    const preview = await call.preview();
    const content = sealContent(vault, { accountId, approvalId }, { input, preview, inbox, setting: call.setting });
    const at = now();
    const times = { createdAt: at.toISOString(), expiresAt: addMs(at, ttlMs) };
    const of = { accountId, approvalId, agentId, session, tool, workspace, content, hash };
    return { ...of, state: 'pending', scope: 'once', ...times, version: 1 };
  }

  async function mustBeBelowPendingLimit(approvals: ApprovalTable, { accountId, agentId }: ApprovalRow): Promise<void> {
    const { rows } = await approvals.list(accountId, { state: 'pending', agentId }, { limit: maxPending });
    if (rows.length < maxPending || rows.some((row) => isExpired(row, now()))) return;
    throw new AppError('E_TOO_MANY', `${maxPending} calls of this agent wait for a person already`, {
      details: { agentId, pending: maxPending },
      hint: 'Wait until a person has decided some of them.',
    });
  }
}
