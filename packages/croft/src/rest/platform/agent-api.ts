import type { AgentFence, CallOutlook } from '@croft/protocol';
import type { Paged, PageRequest } from '../../core/accounts/ports/pages.ts';
import type { Actor } from '../../core/accounts/ports/registry.ts';
import type { ToolDescription } from '../../core/calls/describe-tool.ts';
import type { OutputReceiver } from '../../core/calls/stream-output.ts';
import type { ToolResult } from '../../core/tools/tool.ts';

interface AgentApiCall {
  readonly actor: Actor;
  readonly agentId: string;
  /** The caller's name for its session. */
  readonly session: string;
  readonly tool: string;
  readonly input: unknown;
  /** The approval that the caller claims for this call. */
  readonly approvalId?: string | undefined;
  /** Receives what the command of the call prints, while it runs. */
  readonly onOutput?: OutputReceiver | undefined;
  readonly signal: AbortSignal;
}

interface AgentApiSession {
  readonly session: string;
  readonly parent?: string | undefined;
  readonly usedAt: string;
}

/**
 * The work of agents, for callers with a key of their account. An agent of another account, or an unknown one, is
 * `E_NOT_FOUND` with the message `Agent not found`.
 */
export interface AgentApi {
  tools(actor: Actor, agentId: string, session: string): Promise<readonly ToolDescription[]>;
  /** Throws `E_APPROVAL_REQUIRED` with `details.approval` while a person has to decide. */
  call(call: AgentApiCall): Promise<ToolResult>;
  /** Says what a call would do now. Runs nothing; makes an approval if the call needs one. */
  ask(call: Omit<AgentApiCall, 'approvalId' | 'onOutput'>): Promise<CallOutlook>;
  /** Returns the output so far of a running call. `undefined` if no such call runs a command on this server. */
  outputOf(actor: Actor, agentId: string, call: string): Promise<string | undefined>;
  /** Says what a session may do in each workspace. */
  fence(actor: Actor, agentId: string, session: string): Promise<AgentFence>;
  /** The guidance and memory of the session's workspaces, for its model. */
  prompt(actor: Actor, agentId: string, session: string): Promise<string>;
  /** Serves MCP over HTTP. */
  mcp(actor: Actor, agentId: string, request: Request): Promise<Response>;
  readonly sessions: {
    list(actor: Actor, agentId: string, page: PageRequest): Promise<Paged<AgentApiSession>>;
    /** Opens a child of a session, with equal or narrower limits. `body` says which. */
    open(actor: Actor, agentId: string, body: unknown): Promise<AgentApiSession>;
    /** Throws `E_NOT_FOUND` with the message `Session not found` if there is no session of that name. */
    end(actor: Actor, agentId: string, session: string): Promise<void>;
  };
}
