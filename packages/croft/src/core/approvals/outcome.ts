import { AppError } from '@croft/protocol';
import type { ApprovalRow } from '../accounts/records.ts';

/** How things stand with a call. */
export type Outcome =
  /** It may run, and whatever good for one call there was is used up. */
  | { readonly kind: 'run'; readonly row: ApprovalRow }
  | { readonly kind: 'pending' | 'denied' | 'expired' | 'used'; readonly row: ApprovalRow }
  /** The approval it names is of another call, or there is none. */
  | { readonly kind: 'foreign' }
  /** Nobody was asked, or what they said is over. */
  | { readonly kind: 'none' };

/** Of a call that may not run and that nobody will decide any more. */
export function toRefusal(outcome: Outcome): AppError {
  if (!('row' in outcome)) return new AppError('E_APPROVAL_MISMATCH', 'that is not an approval of this call');
  const { approvalId, decidedBy, reason, expiresAt } = outcome.row;
  if (outcome.kind === 'denied') {
    const why = reason === undefined ? '' : `: ${reason}`;
    return new AppError('E_APPROVAL_DENIED', `a person denied this call${why}`, {
      details: { approvalId, ...(decidedBy !== undefined && { decidedBy }), ...(reason !== undefined && { reason }) },
    });
  }
  if (outcome.kind === 'expired')
    return new AppError('E_APPROVAL_EXPIRED', `the approval ${approvalId} expired at ${expiresAt}`, {
      details: { approvalId, expiresAt },
    });
  return new AppError('E_APPROVAL_MISMATCH', `the approval ${approvalId} was for one call and is used up`, {
    details: { approvalId },
  });
}
