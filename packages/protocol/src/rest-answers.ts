import { z } from 'zod';
import { Account, Key, Secret } from './accounts.ts';
import { Agent } from './agents.ts';
import { Approval } from './approvals.ts';
import { AuditRecord } from './audit.ts';
import { ErrorBody } from './errors/app-error.ts';
import { pageFields } from './page-query.ts';
import { Sandbox } from './sandboxes.ts';
import { Workspace } from './workspaces.ts';

export const Ready = z.object({ status: z.literal('ok') });
export type Ready = z.output<typeof Ready>;

export const Deleted = z.object({ deleted: z.literal(true) });

export const AccountAnswer = z.object({ account: Account });
/** The only answer that has the secret. */
export const AccountMade = z.object({
  account: Account.pick({ accountId: true, username: true, description: true }),
  secret: z.string(),
});
export const AccountRotated = z.object({ account: Account, secret: z.string() });
export const AccountRemoved = Deleted.extend({ cleanup: z.record(z.string(), z.int()) });
export const AccountList = z.object({ accounts: z.array(Account), ...pageFields });

/** The only answer that has the secret. */
export const KeyMade = z.object({ key: Key, secret: z.string() });
export const KeyList = z.object({ keys: z.array(Key), ...pageFields });

export const AgentMade = Agent.pick({ accountId: true, agentId: true, name: true, description: true, ignored: true });
export const AgentList = z.object({ agents: z.array(Agent), ...pageFields });
export const SandboxList = z.object({ sandboxes: z.array(Sandbox), ...pageFields });
export const WorkspaceList = z.object({ workspaces: z.array(Workspace), ...pageFields });
export const SecretList = z.object({ secrets: z.array(Secret) });

export const ApprovalAnswer = z.object({ approval: Approval });
export const ApprovalList = z.object({ approvals: z.array(Approval), ...pageFields });
/** `position` is the newest row when the list was read: `/v1/events?after=` continues there. */
export const AuditList = z.object({ audit: z.array(AuditRecord), ...pageFields, position: z.string() });

/** A tool that an agent may call. The body of the call must match `inputSchema`. */
export const AgentTool = z.object({
  name: z.string(),
  title: z.string(),
  description: z.string(),
  toolset: z.string(),
  /** Whether MCP clients list the tool. Tools that are not listed can be called too. */
  isListed: z.boolean(),
  access: z.enum(['read', 'write', 'execute']),
  inputSchema: z.record(z.string(), z.unknown()),
  outputSchema: z.record(z.string(), z.unknown()),
  idempotent: z.boolean(),
  answersImages: z.literal(true).optional(),
});
export const AgentToolList = z.object({ tools: z.array(AgentTool) });
/** The structured result, as in the tool's `outputSchema`, and an image if there is one. */
export const AgentToolAnswer = z.record(z.string(), z.unknown());
const outputStream = z.enum(['stdout', 'stderr']);
/**
 * One event of a call that is followed while it runs: a part of what its command prints, then how it ended. `output` is
 * redacted as the result is. `bytes`, for a caller that asks for them with `Croft-Output`, has control sequences and
 * bytes that are no text too; `redacted` has the names of the secrets whose marks are among them.
 */
export const AgentToolEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('output'), stream: outputStream, text: z.string() }),
  z.object({
    type: z.literal('bytes'),
    stream: outputStream,
    base64: z.base64(),
    redacted: z.array(z.string()).optional(),
  }),
  z.object({ type: z.literal('result'), result: AgentToolAnswer }),
  z.object({ type: z.literal('error'), error: ErrorBody }),
]);
export type AgentToolEvent = z.output<typeof AgentToolEvent>;
/** The first and the last part of it, if it is long. */
export const CallOutput = z.object({ output: z.string() });
export type CallOutput = z.output<typeof CallOutput>;
export const AgentPrompt = z.object({ prompt: z.string() });
export const AgentSession = z.object({
  session: z.string(),
  parent: z.string().optional(),
  usedAt: z.iso.datetime(),
});
export const AgentSessionList = z.object({ sessions: z.array(AgentSession), ...pageFields });
