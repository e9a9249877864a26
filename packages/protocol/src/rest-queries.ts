import { z } from 'zod';
import { ApprovalState } from './approvals.ts';
import { must } from './fields.ts';
import { PageQuery } from './pages.ts';

export const ApprovalQuery = PageQuery.extend({
  state: ApprovalState.optional(),
  agentId: z.string().max(64, must('be the id of an agent')).optional(),
});

export const AuditQuery = PageQuery.extend({
  after: z
    .string()
    .regex(/^\d{1,15}$/, must('be `next` of another page'))
    .optional(),
});

/** Callers choose the names of sessions. */
export const AgentSessionQuery = PageQuery.extend({
  after: z
    .string()
    .min(1)
    .max(300, must('be `next` of another page'))
    .refine((text) => text.isWellFormed() && !text.includes('\0'), must('be `next` of another page'))
    .optional(),
});

/** The body of a call, as in the tool's `inputSchema`. */
export const AgentToolInput = z.record(z.string(), z.unknown());

/**
 * A child session, with the access of its parent or less. Unknown fields are refused: a misspelt limit would leave
 * access open.
 */
export const OpenAgentSession = z.strictObject({
  parent: z.string().max(128).optional().describe('The session it is a child of; the default one if left out'),
  workspaces: z.array(z.string()).min(1).optional().describe('Only these, by name; all if left out'),
  permissionMode: z.enum(['ask', 'edit', 'bypass']).optional().describe('At least as strict as this'),
  readOnly: z.boolean().optional().describe('Nothing may be changed or run'),
});
