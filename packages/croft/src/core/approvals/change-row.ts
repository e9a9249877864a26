import { AppError } from '@croft/protocol';
import type { ApprovalRow, ApprovalTable } from '../accounts/records.ts';

export type Now = () => Date;

/** Answers the row as it is from now on. */
export async function changeRow(
  approvals: ApprovalTable,
  row: ApprovalRow,
  by: Partial<ApprovalRow>,
): Promise<ApprovalRow> {
  const changed = { ...row, ...by, version: row.version + 1 };
  // Records let nobody in between, so that this is a store that broke its word: the call must not run.
  if (!(await approvals.update(changed)))
    throw new AppError('E_INTERNAL', `the approval ${row.approvalId} changed while it was being changed`);
  return changed;
}

/** Over at the very moment it says, and when that is no time. */
export function isOver({ expiresAt }: Pick<ApprovalRow, 'expiresAt'>, now: Date): boolean {
  return !(now.getTime() < Date.parse(expiresAt));
}

/** Whether it could still have become something, and its time is over. */
export function isLapsed(row: ApprovalRow, now: Date): boolean {
  return (row.state === 'pending' || row.state === 'approved') && isOver(row, now);
}

export async function expireRow(approvals: ApprovalTable, row: ApprovalRow, now: Date): Promise<ApprovalRow> {
  return isLapsed(row, now) ? changeRow(approvals, row, { state: 'expired' }) : row;
}

export function later(now: Date, ms: number): string {
  return new Date(now.getTime() + ms).toISOString();
}
