import { z } from 'zod';
import { must, mustBeOneOf } from './field-schemas.ts';

const states = ['pending', 'approved', 'denied', 'used', 'expired'] as const;
const decisions = ['approve', 'deny'] as const;
const approvalScopes = ['once', 'session'] as const;

export const ApprovalState = z.enum(states, mustBeOneOf(states));

const ApprovalSetting = z.object({
  workspaceId: z.string(),
  permissionMode: z.enum(['ask', 'edit', 'bypass']),
  access: z.enum(['write', 'execute', 'read']),
  /** The directory that a command starts in, from the root. */
  directory: z.string(),
  /** Left out: the call runs no command. */
  network: z.enum(['allow-all', 'deny-all', 'restricted']).optional(),
  /** Hosts and address blocks that commands may reach, if `network` is `restricted`. */
  hosts: z.array(z.string()).optional(),
  /** Control files that the call would change: programs outside the sandbox obey them. */
  controlFiles: z.array(z.string()).optional(),
});

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
  /** Rules of the workspace at the time of the request. */
  setting: ApprovalSetting.optional(),
  /** How often this very call of this session was asked for before. */
  askedBefore: z.int().nonnegative().optional(),
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
