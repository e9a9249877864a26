import type { AgentFence, CallOutlook } from '@croft/protocol';
import type { PageRequest } from '../../core/accounts/ports/pages.ts';
import type { Records } from '../../core/accounts/ports/records.ts';
import type { GrantedAccess } from '../../core/accounts/surface/find-narrowing.ts';
import type { ToolDescription } from '../../core/calls/describe-tool.ts';
import type { Caller } from '../../core/calls/toolbox.ts';
import { sessionNotFound } from '../../core/sessions/session-name.ts';
import type { ToolResult } from '../../core/tools/tool.ts';
import { toAgentFence } from './agent-fence.ts';
import { type AgentRuntimesOptions, createAgentRuntimes } from './agent-runtimes.ts';
import { type AgentSessions, createAgentSessions, type SessionOwner } from './agent-sessions.ts';
import { createOpenAgent, type OpenAgent } from './open-agent.ts';

export interface AgentsOptions extends Omit<AgentRuntimesOptions, 'openSurface'> {
  readonly records: Records;
  /** Id of the data directory. */
  readonly serverId: string;
}

export type Agents = ReturnType<typeof createAgents>;

interface AgentCallRequest extends Omit<Caller, 'session'> {
  readonly tool: string;
  readonly input: unknown;
  /** The session id of the caller, as `toSessionId` makes it. */
  readonly session: string;
  /** See `Actor.asOf`. */
  readonly asOf?: number | undefined;
}

export interface AgentStanding {
  readonly granted: GrantedAccess;
  mayAsk(tool: string): boolean;
}

/** The agents of all accounts. An agent is opened by its first call; a change applies from the next call on. */
export function createAgents(options: AgentsOptions) {
  const sessions = createAgentSessions(options);
  const openSurface = createOpenAgent(options);
  const runtimes = createAgentRuntimes({ ...options, openSurface }, sessions);

  return {
    sessions: createSessionAccess(sessions, openSurface),
    ...{ openSurface, closeOf: runtimes.closeOf },
    closeStale: runtimes.closeStale,
    stop: runtimes.stop,

    /**
     * Returns what the agent has now, and whether a call of a tool may need an approval. Throws `E_NOT_FOUND` for an
     * agent that this account does not have.
     */
    async standingOf(accountId: string, agentId: string, asOf?: number): Promise<AgentStanding> {
      const { granted, runtime } = await runtimes.open({ accountId, agentId, asOf });
      return { granted, mayAsk: runtime.toolbox.mayAsk };
    },

    /**
     * The tools that a client shows to a session. A caller that may not call tools starts no program, and sees the
     * tools that every session has.
     */
    async tools(owner: SessionOwner, session: string, mayCall = true): Promise<readonly ToolDescription[]> {
      const { runtime } = await runtimes.open({ ...owner, session });
      return runtime.tools(mayCall ? session : undefined);
    },

    /** Guidance and memory for the model of a session, as they are now, from the workspaces that this session has. */
    async prompt(accountId: string, agentId: string, session: string): Promise<string> {
      const { runtime } = await runtimes.open({ accountId, agentId, session });
      return runtime.prompt();
    },

    /** Throws `E_NOT_FOUND` for a child session that does not belong to this agent and key. */
    async mustHaveSession(owner: SessionOwner, session: string): Promise<void> {
      await sessions.limitsOf(owner, session);
    },

    async call(accountId: string, agentId: string, request: AgentCallRequest): Promise<ToolResult> {
      const { tool, input, session: id, asOf, ...caller } = request;
      const { runtime } = await runtimes.open({ accountId, agentId, session: id, asOf });
      return runtime.run(id, (session) => {
        // A call may wait for an approval when its session ends, for example because its key was revoked.
        return runtime.toolbox.call(tool, input, { ...caller, session, sessionSignal: session.signal });
      });
    },

    /** Says what a call would do now: see `Toolbox.ask`. */
    async ask(accountId: string, agentId: string, request: AgentCallRequest): Promise<CallOutlook> {
      const { tool, input, session: id, asOf, ...caller } = request;
      const { runtime } = await runtimes.open({ accountId, agentId, session: id, asOf });
      return runtime.run(id, (session) => runtime.toolbox.ask(tool, input, { ...caller, session }));
    },

    /** Says what a session may do in each workspace. */
    async fence(owner: SessionOwner, session: string): Promise<AgentFence> {
      const { runtime, granted } = await runtimes.open({ ...owner, session });
      const { secrets } = await openSurface(owner.accountId, owner.agentId);
      return toAgentFence(owner.agentId, runtime.toolbox.fence(), granted.surface, [...secrets.keys()]);
    },

    /** Returns the output so far of a running call: see `Toolbox.outputOf`. */
    async outputOf({ accountId, agentId }: SessionOwner, call: string): Promise<string | undefined> {
      await openSurface(accountId, agentId);
      const outputs = runtimes.of(accountId, agentId).map(([, { runtime }]) => runtime.outputOf(call));
      return outputs.find((output) => output !== undefined);
    },

    /** Ends the session and every program it started. */
    async endSession(accountId: string, agentId: string, session: string): Promise<void> {
      const wasStored = await sessions.end({ accountId, agentId }, session);
      await Promise.all(runtimes.of(accountId, agentId).map(([, { runtime }]) => runtime.sessions.end(session)));
      if (!wasStored) throw sessionNotFound(session);
    },
  };
}

/** The sessions of agents that exist. */
function createSessionAccess(sessions: AgentSessions, openSurface: OpenAgent) {
  return {
    async list(owner: SessionOwner, page: PageRequest) {
      await openSurface(owner.accountId, owner.agentId);
      return sessions.list(owner, page);
    },
    async open(owner: SessionOwner, body: unknown, toId: (name: string) => string) {
      const { surface } = await openSurface(owner.accountId, owner.agentId);
      return sessions.open(owner, body, { surface, toId });
    },
  };
}
