import { isOffered, readOnlyTools } from '../core/accounts/cascade.ts';
import { buildPrompt } from '../core/harness/prompt.ts';
import type { Journal } from '../core/journal.ts';
import type { Gate } from '../core/passage.ts';
import { createSecrets } from '../core/secrets.ts';
import { createSession, createSessions, type Session } from '../core/session.ts';
import type { SessionMemory } from '../core/session-memory.ts';
import { createToolbox } from '../core/toolbox.ts';
import { createWorkspaceSet } from '../core/workspace-set.ts';
import { createAccountSource } from './account-secrets.ts';
import type { OpenedAgent } from './agent-surface.ts';
import { openWorkspace } from './open-workspace.ts';
import type { RuntimeMeans } from './runtime-means.ts';
import { createStateless } from './stateless.ts';

export type AgentRuntime = ReturnType<typeof createAgentRuntime>;

interface Own {
  readonly gate: Gate;
  readonly journal: Journal;
  memoryOf(agent: { accountId: string; agentId: string }, session: string): SessionMemory;
}

/** One agent as it is now: its tools, its workspaces, its sessions. */
export function createAgentRuntime(
  { agent, surface, secrets: known }: Omit<OpenedAgent, 'mark' | 'shape'>,
  means: RuntimeMeans & Own,
) {
  const { tools, effects, emit, gate, journal, now } = means;
  const stateless = surface.stateless && createStateless(surface.stateless, means);
  const attached = surface.workspaces.map((workspace) => openWorkspace(workspace, means, agent.id));
  const workspaces = createWorkspaceSet(stateless ? [stateless] : attached, { fallback: 'first' });
  const secrets = createSecrets([createAccountSource(known, surface)]);
  const toolbox = createToolbox({
    ...{ tools, workspaces, onReadOnly: readOnlyTools, gate, journal, secrets, effects, emit },
    offers: (tool) => isOffered(surface, tool),
  });
  const newSession = (id: string) =>
    createSession(id, {
      sandboxIdleMs: means.sandboxIdleMs,
      openSandbox: (name) => workspaces.pick(name).openSandbox(),
      memory: stateless ? undefined : means.memoryOf({ accountId: agent.accountId, agentId: agent.id }, id),
    });
  const sessions = createSessions({ create: newSession, now, idleMs: means.sessionIdleMs, max: means.maxSessions });

  return {
    agent,
    surface,
    workspaces,
    toolbox,
    sessions,

    /** Guidance and memory, as they are now. */
    prompt: () =>
      buildPrompt(
        surface.workspaces.map((workspace) => ({ ...workspace, files: workspaces.pick(workspace.name).files })),
      ),

    /** In the session of that name. Without a workspace nothing is kept, so each call has a session of its own. */
    async run<T>(name: string, work: (session: Session) => Promise<T>): Promise<T> {
      if (!stateless) return work(sessions.get(name));
      const session = newSession(name);
      try {
        return await work(session);
      } finally {
        await session.close();
      }
    },
    isIdle: () => toolbox.isIdle() && sessions.isIdle(),
    /** With every call that is under way: one may be waiting for a person, with what the agent has no longer. */
    async close(): Promise<void> {
      await Promise.all([toolbox.stop(0), sessions.close()]);
      stateless?.[Symbol.dispose]();
    },
  };
}
