import type { Page, Paged } from '../core/accounts/records.ts';
import type { Actor } from '../core/accounts/registry.ts';
import type { ToolResult } from '../core/tool.ts';
import type { ToolDescription } from '../core/tool-description.ts';

export interface AgentCall {
  readonly actor: Actor;
  readonly agentId: string;
  /** The caller's name for its session. */
  readonly session: string;
  readonly tool: string;
  readonly input: unknown;
  /** The approval the caller says this call has. */
  readonly approvalId?: string | undefined;
  readonly signal: AbortSignal;
}

export interface SessionView {
  readonly session: string;
  readonly parent?: string | undefined;
  readonly usedAt: string;
}

/**
 * Agents at work, for whoever has a key of their account. An agent of another account, or of none, is `E_NOT_FOUND`
 * with the message `Agent not found`.
 */
export interface AgentDoor {
  tools(actor: Actor, agentId: string, session: string): Promise<readonly ToolDescription[]>;
  /** Throws `E_APPROVAL_REQUIRED` with `details.approval` while a person has to decide. */
  call(call: AgentCall): Promise<ToolResult>;
  /** Guidance and memory, as a model is to read them. */
  prompt(actor: Actor, agentId: string): Promise<string>;
  /** MCP over HTTP. */
  mcp(actor: Actor, agentId: string, request: Request): Promise<Response>;
  readonly sessions: {
    list(actor: Actor, agentId: string, page: Page): Promise<Paged<SessionView>>;
    /** A child of a session, with an equal or a narrower fence. `body` says which. */
    open(actor: Actor, agentId: string, body: unknown): Promise<SessionView>;
    /** Throws `E_NOT_FOUND` with the message `Session not found` when there is none of that name. */
    end(actor: Actor, agentId: string, session: string): Promise<void>;
  };
}
