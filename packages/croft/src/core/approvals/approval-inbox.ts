import { AppError, DecideApproval } from '@croft/protocol';
import { isId } from '../../lib/ids.ts';
import { reachesAgent } from '../accounts/access/key-reach.ts';
import { parseRequestBody } from '../accounts/configs/parse-request-body.ts';
import type { ApprovalRow } from '../accounts/ports/call-tables.ts';
import type { Records } from '../accounts/ports/records.ts';
import type { Actor, ApprovalInbox } from '../accounts/ports/registry.ts';
import type { Vault } from '../accounts/ports/vault.ts';
import { toApprovalView } from './approval-content.ts';
import { expireRow, isLapsed, type Now } from './approval-rows.ts';
import type { Decision } from './approvals.ts';
import type { ApprovalKey } from './record-decision.ts';

interface ApprovalInboxOptions {
  readonly records: Records;
  readonly vault: Vault;
  readonly now: Now;
  decide(
    key: ApprovalKey,
    decision: Decision,
    by: string,
  ): Promise<{ readonly row: ApprovalRow | undefined; readonly isNew: boolean }>;
}

/** Operations of people on approvals. Approvals of another account do not exist for them. */
export function createApprovalInbox({ records, vault, now, decide }: ApprovalInboxOptions): ApprovalInbox {
  return {
    async get(actor, approvalId) {
      const [row] = await refresh([await mustFind(actor, approvalId)]);
      if (!row) throw notFound();
      const { accountId, session, hash } = row;
      const all = await records.glance(({ approvals }) => approvals.countByHash(accountId, session, hash));
      return { ...toApprovalView(vault, row), askedBefore: Math.max(0, all - 1) };
    },

    async list(actor, filter, page) {
      const { rows, next } = await records.read((tables) => tables.approvals.list(actor.accountId, filter, page));
      const current = await refresh(rows.filter(({ agentId }) => reachesAgent(actor, agentId)));
      const asked = current.filter(({ state }) => filter.state === undefined || filter.state === state);
      return { rows: asked.map((row) => toApprovalView(vault, row)), ...(next !== undefined && { next }) };
    },

    async decide(actor, approvalId, body) {
      const { accountId } = await mustFind(actor, approvalId);
      const { row, isNew } = await decide(
        { accountId, approvalId },
        parseRequestBody(DecideApproval, body),
        actor.label,
      );
      if (!row) throw notFound();
      if (isNew) return toApprovalView(vault, row);
      throw new AppError('E_APPROVAL_SETTLED', `the approval is ${row.state} already`, {
        details: { approvalId, state: row.state, ...(row.decidedBy !== undefined && { decidedBy: row.decidedBy }) },
      });
    },
  };

  /** Looks up valid ids only: not every database accepts every text. */
  async function mustFind(actor: Actor, approvalId: string): Promise<ApprovalRow> {
    if (!isId('ap', approvalId)) throw notFound();
    const row = await records.read((tables) => tables.approvals.get(actor.accountId, approvalId));
    if (row && reachesAgent(actor, row.agentId)) return row;
    throw notFound();
  }

  /** Marks expired approvals as expired in the records when somebody reads them. */
  async function refresh(rows: readonly ApprovalRow[]): Promise<readonly ApprovalRow[]> {
    if (!rows.some((row) => isLapsed(row, now()))) return rows;
    return records.change(async ({ approvals }) => {
      const current: ApprovalRow[] = [];
      for (const { accountId, approvalId } of rows) {
        const row = await approvals.get(accountId, approvalId);
        if (row) current.push(await expireRow(approvals, row, now()));
      }
      return current;
    });
  }
}

function notFound(): AppError {
  return new AppError('E_NOT_FOUND', 'Approval not found');
}
