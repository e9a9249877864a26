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
import { openInnerTools } from './inner-tools.ts';
import { openWorkspace } from './open-workspace.ts';
import { type RemoteSurface, toKey } from './runners/remote-surface.ts';
import { openRemoteWorkspace } from './runners/remote-workspace.ts';
import type { RuntimeMeans } from './runtime-means.ts';
import { createStateless } from './stateless.ts';

export type AgentRuntime = ReturnType<typeof createAgentRuntime>;

interface Own {
  readonly gate: Gate;
  readonly journal: Journal;
  /** Those of its workspaces that are on runners. */
  readonly remote: RemoteSurface;
  memoryOf(agent: { accountId: string; agentId: string }, session: string): SessionMemory;
}

/** One agent as it is now: its tools, its workspaces, its sessions. */
export function createAgentRuntime(
  { agent, surface, secrets: known }: Omit<OpenedAgent, 'mark' | 'shape'>,
  means: RuntimeMeans & Own,
) {
  const { tools, effects, emit, gate, journal, now, remote } = means;
  const stateless = surface.stateless && createStateless(surface.stateless, means);
  const attached = surface.workspaces.map((workspace) => {
    const place = remote.places.get(toKey(workspace.record.id, workspace.name));
    const opened = place
      ? openRemoteWorkspace(workspace, place, means, agent.id)
      : openWorkspace(workspace, means, agent.id);
    return means.skills?.keep(opened) ?? opened;
  });
  const workspaces = createWorkspaceSet(stateless ? [stateless] : attached, { fallback: 'first' });
  const secrets = createSecrets([createAccountSource(known, surface)]);
  const more = openInnerTools(agent.config, { workspaces, secrets, emit });
  const toolbox = createToolbox({
    ...{ tools, workspaces, onReadOnly: readOnlyTools, gate, journal, secrets, effects, emit, more },
    offers: (tool) => isOffered(surface, tool),
  });
  const newSession = (id: string) =>
    createSession(id, {
      sandboxIdleMs: means.sandboxIdleMs,
      openSandbox: (name) => workspaces.pick(name).openSandbox(),
      memory: stateless ? undefined : means.memoryOf({ accountId: agent.accountId, agentId: agent.id }, id),
    });
  const sessions = createSessions({ create: newSession, now, idleMs: means.sessionIdleMs, max: means.maxSessions });

  /** In the session of that name. Without a workspace nothing is kept, so each call has a session of its own. */
  async function run<T>(name: string, work: (session: Session) => Promise<T>): Promise<T> {
    if (!stateless) return work(sessions.get(name));
    const session = newSession(name);
    try {
      return await work(session);
    } finally {
      await session.close();
    }
  }

  return {
    ...{ agent, surface, workspaces, toolbox, sessions, run },
    /** Those of a session, which may start programs to know them; without one those that every session has. */
    tools: async (session?: string) => (session !== undefined && more ? run(session, toolbox.list) : toolbox.common()),

    /** Guidance and memory, as they are now. */
    async prompt(): Promise<string> {
      await Promise.all(attached.map((workspace) => means.skills?.ready(workspace)));
      return buildPrompt(
        surface.workspaces.map((workspace) => ({ ...workspace, files: workspaces.pick(workspace.name).files })),
      );
    },

    isIdle: () => toolbox.isIdle() && sessions.isIdle(),
    /** With every call that is under way: one may be waiting for a person, with what the agent has no longer. */
    async close(): Promise<void> {
      await Promise.all([toolbox.stop(0), sessions.close()]);
      stateless?.[Symbol.dispose]();
    },
  };
}
