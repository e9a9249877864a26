import { AppError, DecideApproval } from '@croft/protocol';
import { isId } from '../../lib/ids.ts';
import { parseBody } from '../accounts/parse-body.ts';
import type { ApprovalRow, Records } from '../accounts/records.ts';
import type { ApprovalDesk } from '../accounts/registry.ts';
import type { Vault } from '../accounts/vault.ts';
import type { Decision } from './approvals.ts';
import { expireRow, isLapsed, type Now } from './change-row.ts';
import { toView } from './content.ts';
import type { ApprovalKey } from './settle.ts';

export interface DeskOptions {
  readonly records: Records;
  readonly vault: Vault;
  readonly now: Now;
  decide(
    key: ApprovalKey,
    decision: Decision,
    by: string,
  ): Promise<{ readonly row: ApprovalRow | undefined; readonly isNew: boolean }>;
}

/** What people do with approvals. Those of another account are not there. */
export function createDesk({ records, vault, now, decide }: DeskOptions): ApprovalDesk {
  return {
    async get({ accountId }, approvalId) {
      checkId(approvalId);
      const found = await records.read((tables) => tables.approvals.get(accountId, approvalId));
      const [row] = await refresh(found ? [found] : []);
      if (!row) throw notFound();
      return toView(vault, row);
    },

    async list({ accountId }, filter, page) {
      const { rows, next } = await records.read((tables) => tables.approvals.list(accountId, filter, page));
      const current = await refresh(rows);
      const asked = current.filter(({ state }) => filter.state === undefined || filter.state === state);
      return { rows: asked.map((row) => toView(vault, row)), ...(next !== undefined && { next }) };
    },

    async decide({ accountId, label }, approvalId, body) {
      checkId(approvalId);
      const { row, isNew } = await decide({ accountId, approvalId }, parseBody(DecideApproval, body), label);
      if (!row) throw notFound();
      if (isNew) return toView(vault, row);
      throw new AppError('E_APPROVAL_SETTLED', `the approval is ${row.state} already`, {
        details: { approvalId, state: row.state },
      });
    },
  };

  /** Those whose time is over are so in the records too, once somebody looks. */
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

/** What no approval is called is not looked for: not every store can take every text. */
function checkId(approvalId: string): void {
  if (!isId('ap', approvalId)) throw notFound();
}

function notFound(): AppError {
  return new AppError('E_NOT_FOUND', 'Approval not found');
}
