import { sha256 } from '../../lib/sha256.ts';
import type { ApprovalRow } from '../accounts/records.ts';
import type { CallToApprove } from './approvals.ts';
import { canonicalJson } from './canonical.ts';

/** A call and what stands for exactly it. */
export interface BoundCall extends CallToApprove {
  readonly hash: string;
}

export function bind(call: CallToApprove): BoundCall {
  const { accountId, agentId, session, tool, workspace, input } = call;
  const hash = sha256(canonicalJson({ accountId, agentId, session, tool, workspace, input }));
  return { ...call, hash, preview: () => call.preview() };
}

/** The hash has all of it in it; the rest is compared as well, so that nothing hangs on one column alone. */
export function isOf(row: ApprovalRow, { accountId, agentId, session, hash }: BoundCall): boolean {
  return row.hash === hash && row.session === session && row.agentId === agentId && row.accountId === accountId;
}
