import { needsNewSandbox } from '../../core/accounts/surface/find-sandbox-narrowing.ts';
import { type AgentSurface, hasTool, readOnlyTools } from '../../core/accounts/surface/resolve-surface.ts';
import { isOnRunner } from '../../core/accounts/surface/workspace-location.ts';
import type { ApprovalGate } from '../../core/calls/get-approval-if-needed.ts';
import { createToolbox } from '../../core/calls/toolbox.ts';
import type { CallJournal } from '../../core/events/call-journal.ts';
import { createSecrets, type SecretSource, type Secrets } from '../../core/secrets/secrets.ts';
import type { SessionStore } from '../../core/sessions/session-store.ts';
import type { SessionTools } from '../../core/tools/session-tools.ts';
import { selectTools } from '../../core/toolsets/select-tools.ts';
import { createWorkspaceSet } from '../../core/workspace/workspace-set.ts';
import { type RemoteSurface, toWorkspaceKey } from '../fleet/remote-surface.ts';
import type { OpenedAgent } from './open-agent.ts';
import { innerTools } from './open-inner-tools.ts';
import { openLocalWorkspace } from './open-local-workspace.ts';
import { openRemoteWorkspace } from './open-remote-workspace.ts';
import type { RuntimeOptions } from './runtime-options.ts';
import { createScratchWorkspace } from './scratch-workspace.ts';

export interface AgentRuntimeOptions extends RuntimeOptions {
  readonly gate: ApprovalGate;
  readonly journal: CallJournal;
  memoryOf(agent: { accountId: string; agentId: string }, session: string): SessionStore;
  /** Why sessions were interrupted. A session reads it when it looks for its background commands later. */
  readonly losses: InterruptionReasons;
}

export interface InterruptionReasons {
  get(session: string): string | undefined;
  set(session: string, words: string): void;
}

/** An agent as its records are now, and which of its workspaces are on runners. */
export interface AgentState extends Pick<OpenedAgent, 'agent' | 'surface' | 'secrets'> {
  readonly remote: RemoteSurface;
}

export type AgentParts = ReturnType<typeof createAgentParts>;

/** Creates everything of an agent except its sessions. Called again whenever the agent's records change. */
export function createAgentParts(
  state: AgentState,
  options: AgentRuntimeOptions,
  { more, earlier }: { readonly more: SessionTools | undefined; readonly earlier?: Secrets | undefined },
) {
  const { agent, surface, secrets: known, remote } = state;
  const stateless = surface.stateless && createScratchWorkspace(surface.stateless, options);
  const attached = surface.workspaces.map((workspace) => {
    const remoteWorkspace = remote.workspaces.get(toWorkspaceKey(workspace.record.id, workspace.name));
    const opened = remoteWorkspace
      ? openRemoteWorkspace(workspace, remoteWorkspace, options, agent.id)
      : openLocalWorkspace(workspace, options, agent.id);
    return options.skills?.keep(opened) ?? opened;
  });
  const workspaces = createWorkspaceSet(stateless ? [stateless] : attached, { fallback: 'first' });
  const secrets = createSecrets([createAccountSecrets(known)], earlier);
  const selection = selectTools(agent.config.tools);
  const { tools, effects, renderDiagram, emit, gate, journal, onWarning } = options;
  const toolbox = createToolbox({
    ...{
      tools,
      workspaces,
      onReadOnly: readOnlyTools,
      gate,
      journal,
      secrets,
      effects,
      renderDiagram,
      emit,
      sessionTools: selection.isAllowed(innerTools) ? more : undefined,
      onWarning,
    },
    isIncluded: (tool) => hasTool(surface, tool) && selection.isAllowed(tool),
    isListed: selection.isListed,
  });
  return { ...state, stateless, attached, workspaces, secrets, toolbox, more };
}

/** Names of the secrets that a sandbox gets as variables. */
export function sandboxSecrets({ workspaces, stateless }: AgentSurface, workspace: string): readonly string[] {
  const sandbox = stateless ?? workspaces.find(({ name }) => name === workspace)?.sandbox;
  return (sandbox?.secretNames ?? []).map((name) => name.toLowerCase());
}

type Compared = Pick<AgentState, 'surface' | 'remote'>;

/** Workspaces whose open sandboxes differ from what would be opened now. */
export function findOutdatedSandboxes(before: Compared, after: Compared): string[] {
  const isReconnected = before.remote.mark !== after.remote.mark;
  return before.surface.workspaces.flatMap((had) => {
    const has = after.surface.workspaces.find(({ name }) => name === had.name);
    const isSame = !had.sandbox || !has?.sandbox || !needsNewSandbox(had.sandbox.config, has.sandbox.config);
    return isSame && !(isReconnected && isOnRunner(had)) ? [] : [had.name];
  });
}

/** The secrets of an account. A call may ask for them by name. */
function createAccountSecrets(secrets: ReadonlyMap<string, string>): SecretSource {
  const byName = new Map(Array.from(secrets, ([name, value]) => [name.toLowerCase(), value]));
  return {
    kind: 'account',
    scopes: () => [],
    names: (scope) => (scope === undefined ? [...secrets.keys()] : []),
    read: (name, scope) => (scope === undefined ? byName.get(name.toLowerCase()) : undefined),
  };
}
