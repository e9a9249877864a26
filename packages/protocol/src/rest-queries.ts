import { z } from 'zod';
import { ApprovalState } from './approvals.ts';
import { must, mustBeOneOf } from './field-schemas.ts';
import { PageQuery } from './page-query.ts';

export const ApprovalQuery = PageQuery.extend({
  state: ApprovalState.optional(),
  agentId: z.string().max(64, must('be the id of an agent')).optional(),
});

const orders = ['oldest', 'newest'] as const;
const kinds = ['call', 'approval', 'violation', 'change'] as const;
const outcomes = ['ok', 'error', 'asked', 'denied', 'violation'] as const;
const Time = z.iso.datetime({ offset: true, ...must('be a time such as 2030-01-31T12:00:00Z') });
const Text = z
  .string(must('be a string'))
  .min(1, must('be a non-empty string'))
  .max(200, must('be at most 200 characters long'));

/**
 * Selects rows of the audit trail. All filters hold at once. A page may have fewer rows than `limit` and still a
 * `next`.
 */
export const AuditQuery = PageQuery.extend({
  after: z
    .string()
    .regex(/^\d{1,15}(?:-\d{1,15})?$/, must('be `next` of another page'))
    .optional(),
  order: z.enum(orders, mustBeOneOf(orders)).prefault('oldest'),
  kind: z.enum(kinds, mustBeOneOf(kinds)).optional(),
  /** The id of an agent. */
  agent: Text.optional(),
  /** The session of a call, as the row names it. */
  session: Text.optional(),
  /** The name of a workspace as the agent calls it, or its id. */
  workspace: Text.optional(),
  tool: Text.optional(),
  outcome: z.enum(outcomes, mustBeOneOf(outcomes)).optional(),
  from: Time.optional(),
  to: Time.optional(),
  /** Anywhere in a row, in upper or lower case. */
  text: Text.optional(),
});
export type AuditQuery = z.output<typeof AuditQuery>;

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

export const AccountEventsQuery = z.object({
  /** `position` of a list of the audit trail. `Last-Event-ID` comes first. */
  after: z
    .string()
    .regex(/^\d{1,15}(?:-\d{1,15})?$/, must('be `position` of a list of the audit trail'))
    .optional(),
});
