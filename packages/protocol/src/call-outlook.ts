import { z } from 'zod';
import { Approval } from './approvals.ts';
import { ErrorBody } from './errors/app-error.ts';

/** Says what a call would do now. Nothing has run. */
export const CallOutlook = z.object({
  outcome: z.enum(['runs', 'asks', 'refused']),
  /** The reason, for a person. */
  reason: z.string(),
  tool: z.string(),
  workspace: z.string().optional(),
  /** The approval that was made for this very call, or the one that it has already. Its call may use it. */
  approval: Approval.optional(),
  /** The error that the call itself would answer. */
  error: ErrorBody.optional(),
});
export type CallOutlook = z.output<typeof CallOutlook>;

const verdicts = ['runs', 'asks', 'no'] as const;
const Verdict = z.object({ verdict: z.enum(verdicts), reason: z.string() });

/** Says what an agent, or a session with limits, may do in which workspace. */
export const AgentFence = z.object({
  agentId: z.string(),
  workspaces: z.array(
    z.object({
      name: z.string(),
      workspaceId: z.string(),
      access: z.enum(['read-write', 'read-only']),
      permissionMode: z.enum(['ask', 'edit', 'bypass']),
      /** Absent: the workspace has no sandbox. */
      sandbox: z.object({ sandboxId: z.string(), name: z.string(), provider: z.string() }).optional(),
      /** The strictest verdict of all tools of a kind. `no`: the agent has no such tool there. */
      read: Verdict,
      search: Verdict,
      write: Verdict,
      run: Verdict,
      /** Each tool, if some of a kind differ. */
      tools: z.array(
        z.object({
          name: z.string(),
          kind: z.enum(['read', 'search', 'write', 'run']),
          verdict: z.enum(verdicts),
        }),
      ),
      /** Left out: no commands run here. */
      network: z
        .object({
          mode: z.enum(['allow-all', 'deny-all', 'restricted']),
          allowDomains: z.array(z.string()).optional(),
          allowCidrs: z.array(z.string()).optional(),
        })
        .optional(),
      /** Secrets that every command gets, by name. */
      secrets: z.array(z.string()),
      /** Control files that need no approval. */
      allowControl: z.array(z.string()),
    }),
  ),
  /** Secrets that a call can ask for, by name. */
  secrets: z.array(z.string()),
});
export type AgentFence = z.output<typeof AgentFence>;
