import { AppError } from '@croft/protocol';
import type { ApprovalRow, ApprovalTable } from '../accounts/ports/call-tables.ts';

export type Now = () => Date;

/** Updates a row. Resolves with the updated row. */
export async function changeRow(
  approvals: ApprovalTable,
  row: ApprovalRow,
  by: Partial<ApprovalRow>,
): Promise<ApprovalRow> {
  const changed = { ...row, ...by, version: row.version + 1 };
  // Transactions are serialised, so a failed update means that the store is broken: the call must not run.
  if (!(await approvals.update(changed)))
    throw new AppError('E_INTERNAL', `the approval ${row.approvalId} changed while it was being changed`);
  return changed;
}

/** True from the exact time of `expiresAt` on, and for an invalid time. */
export function isExpired({ expiresAt }: Pick<ApprovalRow, 'expiresAt'>, now: Date): boolean {
  return !(now.getTime() < Date.parse(expiresAt));
}

/** Whether an approval expired while it could still be decided or used. */
export function isLapsed(row: ApprovalRow, now: Date): boolean {
  return (row.state === 'pending' || row.state === 'approved') && isExpired(row, now);
}

export async function expireRow(approvals: ApprovalTable, row: ApprovalRow, now: Date): Promise<ApprovalRow> {
  return isLapsed(row, now) ? changeRow(approvals, row, { state: 'expired' }) : row;
}

export function addMs(now: Date, ms: number): string {
  return new Date(now.getTime() + ms).toISOString();
}
