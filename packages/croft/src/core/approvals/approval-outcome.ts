import { AppError } from '@croft/protocol';
import type { ApprovalRow } from '../accounts/ports/call-tables.ts';

/** The state of a call's approval. */
export type ApprovalOutcome =
  /** The call may run. An approval for one call is now used up. */
  | { readonly kind: 'run'; readonly row: ApprovalRow }
  | { readonly kind: 'pending' | 'denied' | 'expired' | 'used'; readonly row: ApprovalRow }
  /** The named approval is for another call, or does not exist. */
  | { readonly kind: 'foreign' }
  /** No approval was requested, or its decision has expired. */
  | { readonly kind: 'none' };

/** Returns the error for a call that may not run and that nobody will decide any more. */
export function toRefusal(outcome: ApprovalOutcome): AppError {
  if (!('row' in outcome)) return new AppError('E_APPROVAL_MISMATCH', 'that is not an approval of this call');
  const { approvalId, reason, expiresAt } = outcome.row;
  if (outcome.kind === 'denied') {
    const why = reason === undefined ? '' : `: ${reason}`;
    // Does not say who denied it: that is a key id, which the caller may not be allowed to list.
    return new AppError('E_APPROVAL_DENIED', `a person denied this call${why}`, {
      details: { approvalId, ...(reason !== undefined && { reason }) },
    });
  }
  if (outcome.kind === 'expired')
    return new AppError('E_APPROVAL_EXPIRED', `the approval ${approvalId} expired at ${expiresAt}`, {
      details: { approvalId, expiresAt },
    });
  return new AppError('E_APPROVAL_MISMATCH', `the approval ${approvalId} was for one call and is used up`, {
    details: { approvalId },
    hint: 'Nothing ran. Make the call again without an approval: a person is asked for a new one.',
  });
}
