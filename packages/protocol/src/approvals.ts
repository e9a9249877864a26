import { z } from 'zod';
import { must, mustBeOneOf } from './fields.ts';

const states = ['pending', 'approved', 'denied', 'used', 'expired'] as const;
const decisions = ['approve', 'deny'] as const;
const approvalScopes = ['once', 'session'] as const;

export const ApprovalState = z.enum(states, mustBeOneOf(states));

export const Approval = z.object({
  approvalId: z.string(),
  agentId: z.string(),
  session: z.string(),
  tool: z.string(),
  workspace: z.string(),
  /** The exact input of the call. */
  input: z.unknown(),
  /** A diff for an edit, the command for bash. */
  preview: z.string(),
  hash: z.string(),
  state: ApprovalState,
  scope: z.enum(approvalScopes),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  decidedAt: z.iso.datetime().optional(),
  decidedBy: z.string().optional(),
  reason: z.string().optional(),
});
export type Approval = z.output<typeof Approval>;

export const DecideApproval = z.object(
  {
    decision: z.enum(decisions, mustBeOneOf(decisions)),
    reason: z.string(must('be a string')).max(2000, must('be at most 2000 characters long')).optional(),
    /** `once`: this call. `session`: every call of this session with exactly the same input. */
    scope: z.enum(approvalScopes, mustBeOneOf(approvalScopes)).prefault('once'),
  },
  must('be an object'),
);
