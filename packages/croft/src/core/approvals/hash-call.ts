import { sha256 } from '../../lib/crypto/sha256.ts';
import type { ApprovalRow } from '../accounts/ports/call-tables.ts';
import type { CallToApprove } from './approvals.ts';
import { canonicalJson } from './canonical-json.ts';

/** A call with the hash that identifies exactly this call. */
export interface HashedCall extends CallToApprove {
  readonly hash: string;
}

export function hashCall(call: CallToApprove): HashedCall {
  const { accountId, agentId, session, tool, workspace, input, control } = call;
  const hash = sha256(canonicalJson({ accountId, agentId, session, tool, workspace, input, control }));
  return { ...call, hash, preview: () => call.preview() };
}

/**
 * Whether an approval is for this call. The hash covers everything; the other fields are compared as well, so that
 * security does not depend on one column.
 */
export function isForCall(row: ApprovalRow, { accountId, agentId, session, hash }: HashedCall): boolean {
  return row.hash === hash && row.session === session && row.agentId === agentId && row.accountId === accountId;
}
