import { AppError } from '@croft/protocol';
import type { Page, Records } from '../core/accounts/records.ts';
import type { ToolResult } from '../core/tool.ts';
import type { ToolDescription } from '../core/tool-description.ts';
import type { Caller } from '../core/toolbox.ts';
import { createRuntimes, type RuntimesOptions } from './agent-runtimes.ts';
import { createAgentSessions, type SessionOwner } from './agent-sessions.ts';
import { openSurface } from './agent-surface.ts';

export interface AgentsOptions extends RuntimesOptions {
  readonly records: Records;
}

export type Agents = ReturnType<typeof createAgents>;

export interface AgentCallRequest extends Omit<Caller, 'session'> {
  readonly tool: string;
  readonly input: unknown;
  /** Of the caller, as `toSessionId` makes it. */
  readonly session: string;
}

/** The agents of all accounts, each opened on its first call and anew when what it has was changed. */
export function createAgents(options: AgentsOptions) {
  const sessions = createAgentSessions(options);
  const runtimes = createRuntimes(options, sessions);

  return {
    sessions: {
      async list(owner: SessionOwner, page: Page) {
        await openSurface(options.registry, owner.accountId, owner.agentId);
        return sessions.list(owner, page);
      },
      async open(owner: SessionOwner, body: unknown, toId: (name: string) => string) {
        const { surface } = await openSurface(options.registry, owner.accountId, owner.agentId);
        return sessions.open(owner, body, { surface, toId });
      },
    },
    closeOf: runtimes.closeOf,
    closeStale: runtimes.closeStale,
    stop: runtimes.stop,

    /** Another when what it has was changed. Throws `E_NOT_FOUND` for an agent that this account does not have. */
    async markOf(accountId: string, agentId: string): Promise<string> {
      const { mark } = await runtimes.open(accountId, agentId);
      return mark;
    },

    /** What a face shows to a session of it. Whoever may not call starts nothing, and sees what every session has. */
    async tools(owner: SessionOwner, session: string, mayCall = true): Promise<readonly ToolDescription[]> {
      const { runtime } = await runtimes.open(owner.accountId, owner.agentId, session);
      return runtime.tools(mayCall ? session : undefined);
    },

    /** Guidance and memory for its model, as they are now. */
    async prompt(accountId: string, agentId: string): Promise<string> {
      const { runtime } = await runtimes.open(accountId, agentId);
      return runtime.prompt();
    },

    async call(accountId: string, agentId: string, request: AgentCallRequest): Promise<ToolResult> {
      const { tool, input, session: id, ...caller } = request;
      const { runtime } = await runtimes.open(accountId, agentId, id);
      return runtime.run(id, (session) => {
        // A call may be waiting for a person when its session ends, perhaps because its key was revoked.
        const signal = AbortSignal.any([caller.signal, session.signal]);
        return runtime.toolbox.call(tool, input, { ...caller, signal, session });
      });
    },

    /** With every program it started. */
    async endSession(accountId: string, agentId: string, session: string): Promise<void> {
      const wasKept = await sessions.end({ accountId, agentId }, session);
      await Promise.all(runtimes.of(accountId, agentId).map(([, { runtime }]) => runtime.sessions.end(session)));
      if (!wasKept) throw new AppError('E_NOT_FOUND', 'Session not found', { details: { session } });
    },
  };
}
