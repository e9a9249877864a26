import type { AppError } from '@croft/protocol';
import { isSameJson } from '../../core/accounts/configs/check-json.ts';
import { buildPrompt } from '../../core/harness/build-prompt.ts';
import { type AgentRuntimeOptions, type AgentState, createAgentParts, findOutdatedSandboxes } from './agent-parts.ts';
import { type InnerServers, openInnerTools } from './open-inner-tools.ts';
import { createRuntimeSessions } from './runtime-sessions.ts';

export type AgentRuntime = ReturnType<typeof createAgentRuntime>;

/**
 * One agent and its sessions. When the agent's records change, its parts are created again and running commands
 * continue.
 */
export function createAgentRuntime(first: AgentState, options: AgentRuntimeOptions) {
  // Inner servers belong to sessions, so they outlive the parts that started them.
  const openMore = (config: InnerServers) =>
    openInnerTools(config, {
      emit: options.emit,
      workspaces: { list: () => parts.workspaces.list(), fallbackName: () => parts.workspaces.fallbackName() },
      secrets: { get: (...wanted) => parts.secrets.get(...wanted), redact: (text) => parts.secrets.redact(text) },
    });
  let parts = createAgentParts(first, options, { more: openMore(first.agent.config) });
  /** Earlier parts that still have calls in progress. */
  let earlier: (typeof parts)[] = [];
  const { sessions, run, endGiven } = createRuntimeSessions(first.agent, options, () => parts);

  function disposeIdleParts(): void {
    for (const { stateless } of earlier.filter(({ toolbox }) => toolbox.isIdle())) stateless?.[Symbol.dispose]();
    earlier = earlier.filter(({ toolbox }) => !toolbox.isIdle());
  }

  const all = () => [parts, ...earlier];

  return {
    ...{ agent: first.agent, sessions, run, endGiven },
    get toolbox() {
      return parts.toolbox;
    },
    /**
     * Tools of a session; listing them may start inner MCP servers. Without a session, the tools that every session
     * has.
     */
    tools: async (session?: string) =>
      session !== undefined && parts.more ? run(session, parts.toolbox.list) : parts.toolbox.common(),

    /** Guidance and memory as they are now. */
    async prompt(): Promise<string> {
      const { attached, surface, workspaces } = parts;
      await Promise.all(attached.map((workspace) => options.skills?.ready(workspace)));
      return buildPrompt(
        surface.workspaces.map((workspace) => ({ ...workspace, files: workspaces.pick(workspace.name).files })),
      );
    },

    /** Applies new records from the next call on. Calls in progress and background commands continue unchanged. */
    update(state: AgentState): void {
      const before = parts;
      const hasSameServers = isSameJson(innerServers(before.agent.config), innerServers(state.agent.config));
      const more = hasSameServers ? before.more : openMore(state.agent.config);
      parts = createAgentParts(state, options, { more, earlier: before.secrets });
      earlier.push(before);
      disposeIdleParts();
      sessions.renew(findOutdatedSandboxes(before, parts));
    },

    /** See `Toolbox.outputOf`. */
    outputOf: (call: string) =>
      all()
        .map(({ toolbox }) => toolbox.outputOf(call))
        .find((output) => output !== undefined),
    isIdle: () => all().every(({ toolbox }) => toolbox.isIdle()) && sessions.isIdle(),
    stop: (deadlineMs: number) => Promise.all(all().map(({ toolbox }) => toolbox.stop(deadlineMs))),
    /** Ends every call in progress too: a call may wait for an approval and use access that the agent has lost. */
    async close(reason?: AppError): Promise<void> {
      await Promise.all([sessions.close(reason), ...all().map(({ toolbox }) => toolbox.stop(0, reason))]);
      for (const { stateless } of all()) stateless?.[Symbol.dispose]();
    },
  };
}

function innerServers({ mcpServers, workspaceMcp }: InnerServers): InnerServers {
  return { mcpServers, workspaceMcp };
}
