import { createAnswerStore } from '../core/answers/answer-store.ts';
import type { ApprovalGate } from '../core/calls/get-approval-if-needed.ts';
import { createToolbox } from '../core/calls/toolbox.ts';
import {
  createPostEditChecks,
  defaultPostEditSettings,
  type PostEditSettings,
} from '../core/checks/post-edit/post-edit-checks.ts';
import type { CodeMode } from '../core/code/ports/language-servers.ts';
import { createOpenSandboxes } from '../core/commands/open-sandboxes.ts';
import type { Provider } from '../core/commands/sandbox.ts';
import type { ReadTracker } from '../core/content/read/read-tracker.ts';
import type { Emit } from '../core/events/emitter.ts';
import { createSecrets } from '../core/secrets/secrets.ts';
import { createSession } from '../core/sessions/session.ts';
import { createSessions } from '../core/sessions/sessions.ts';
import { createSkillsSyncer, type SkillsSyncer } from '../core/skills/skills-syncer.ts';
import type { Durability } from '../core/storage/durability.ts';
import type { Tool } from '../core/tools/tool.ts';
import { findUnknownTool, selectTools } from '../core/toolsets/select-tools.ts';
import type { PermissionMode } from '../core/workspace/permission.ts';
import type { Workspace } from '../core/workspace/workspace.ts';
import { createWorkspaceSet } from '../core/workspace/workspace-set.ts';
import * as detectors from '../detectors/index.ts';
import { createDiagramRenderer } from '../diagrams/create-diagram-renderer.ts';
import { createSecretDirectorySource, createSecretEnvironmentSource } from '../lib/secret-sources.ts';
import { UsageError } from '../lib/usage-error.ts';
import { type NamedMount, openMounts, type WorkspaceSource } from '../storages/index.ts';
import * as tools from '../tools/index.ts';
import { type InnerServers, innerTools, openInnerTools } from './agents/open-inner-tools.ts';
import { createFlagWorkspaceForks } from './forks/flag-workspace-forks.ts';
import { createOverlays } from './forks/overlays.ts';
import { type FlagWorkspaceOptions, openFlagWorkspace } from './open-flag-workspace.ts';
import type { LocalApprovals } from './records/local-approvals.ts';
import type { LocalCallJournal } from './records/local-call-journal.ts';
import { openLifecycleEvents } from './server/open-lifecycle-events.ts';
import { assembleWorkspace, type WorkspaceParts } from './workspaces/assemble-workspace.ts';
import { openCodeIndexes } from './workspaces/code-indexes-of-workspaces.ts';
import { createSkillsSource, type SkillsDirectories } from './workspaces/create-skills-source.ts';
import { openCodeParts } from './workspaces/language-servers-of-workspaces.ts';
import { openProvider } from './workspaces/open-provider.ts';
import { openSearchBox, type SearchedDirectory } from './workspaces/open-search-box.ts';
import type { HostOptions, SandboxOptions } from './workspaces/sandbox-options.ts';
import { createSearchBoxPool } from './workspaces/search-box-pool.ts';
import {
  createWorkspaceHistories,
  type HistoryLimits,
  type WorkspaceHistories,
} from './workspaces/workspace-histories.ts';

export type { HostOptions, SandboxOptions } from './workspaces/sandbox-options.ts';

export interface AppOptions {
  readonly workspaces: readonly WorkspaceSource[];
  readonly readOnly: boolean;
  /** Names of tools and toolsets, see `selectTools`. Default: every tool, of which clients list the everyday ones. */
  readonly tools?: readonly string[] | undefined;
  /** Calls that a person has to approve. Default: none, because the client asks its own user. */
  readonly permission?: PermissionMode | undefined;
  /** Asks a person for approval. Without it, every call that needs an approval is refused. */
  readonly gate?: ApprovalGate | undefined;
  /** The audit trail of calls. Without it, calls are not recorded. */
  readonly journal?: LocalCallJournal | undefined;
  /** Opens the approvals for the person at this machine. Absent: an agent could reach them. */
  readonly localApprovals?: (() => Promise<LocalApprovals>) | undefined;
  /** When a file change is answered: after it is on the disk, or before. Default: strict. */
  readonly durability?: Durability | undefined;
  /** How code is understood. Default: all language servers, and only `safe` ones for read-only workspaces. */
  readonly code?: CodeMode | undefined;
  /** Checks that run after a write or an edit. Default: lint the file, for at most five seconds. */
  readonly editChecks?: PostEditSettings | undefined;
  /** Lifecycle events are appended to this file, one JSON line each. */
  readonly eventsFile?: string | undefined;
  /** Settings of the operator's machine: where toolchains are found and where secrets come from. */
  readonly host: HostOptions;
  /** MCP servers that run inside sandboxes. Default: none. */
  readonly innerServers?: InnerServers | undefined;
  /** Directories with skills and sub-agents that the server copies into every workspace in use. Default: none. */
  readonly skills?: SkillsDirectories | undefined;
  /**
   * The data directory, which stores results of checks and histories. Without it, they are lost when the program ends.
   */
  readonly data?: string | undefined;
  /** Limits of each workspace's history. Default: `defaultHistoryLimits`. */
  readonly historyLimits?: HistoryLimits | undefined;
  readonly sandbox: SandboxOptions;
  /** Replaces the provider that `sandbox` names. Tests use it to take one guard of the sandbox away. */
  readonly provider?: Provider | undefined;
  /** Reports a problem to the operator that no caller can act on. */
  onWarning(message: string): void;
}

export { defaultSandboxOptions } from './workspaces/sandbox-options.ts';

export type App = ReturnType<typeof createApp>;

const sandboxIdleMs = 10 * 60_000;
const hourMs = 3_600_000;

/**
 * Composition root for workspaces that flags name (`croft mcp`, `croft tool`, `croft serve`). There are two more:
 * `platform.ts` for the accounts of a server, and `offer.ts` for a runner.
 */
export function createApp(options: AppOptions) {
  const { readOnly, host, sandbox, durability, onWarning } = options;
  const { innerServers, ...selection } = toSelection(options);
  // Without isolation, commands see a directory only under its real path.
  const sources =
    sandbox.provider === 'none' ? options.workspaces.map(({ root: _, ...own }) => own) : options.workspaces;
  const mounts = openMounts(sources, { durability, allowControl: sandbox.allowControl });
  if (!readOnly) for (const mount of mounts) mount.prepareChanges?.();
  const [events, openSandboxes] = [openLifecycleEvents(options), createOpenSandboxes(() => new Date())];
  const { emit } = events;
  const [provider, searches] = [openProvider(options, options.provider), createSearchBoxPool()];
  const { data, permission = 'bypass', code = readOnly ? 'safe' : 'full' } = options;
  const codeParts = openCodeParts({ mode: code, provider, readable: sandbox.readable, emit });
  const codeIndexes = openCodeIndexes({ ...codeParts, data, onWarning });
  const shared = { ...codeParts, codeIndexes, searches, data, emit };
  const histories = data === undefined ? undefined : openHistories(data, options);
  const access = readOnly ? 'read-only' : 'read-write';
  const skills = toSkills(options, emit);
  const known = { ...shared, provider, openSandboxes, histories, permission, sandbox, skills, durability };
  const { workspaces, forks, layered } = openWorkspaces(mounts, { ...known, access }, onWarning);
  const secrets = openSecrets(host);
  const shelf = createAnswerStore();
  const renderDiagram = createDiagramRenderer();
  const newSession = (id: string, reads?: ReadTracker) =>
    createSession(id, {
      // Each session owns its stored answers, because sessions may belong to different people.
      pages: shelf.open(id),
      sandboxIdleMs,
      openSandbox: (name) => workspaces.pick(name).openSandbox(),
      ...(reads && { reads }),
    });

  emit('lifecycle.start', () => ({ workspaces: workspaces.names, read_only: readOnly }));
  for (const mount of mounts) emitSandbox(mount, known);

  return {
    ...{ workspaces, emit, newSession, provider, histories, layered, codeIndexes, skills, shelf, renderDiagram },
    /** For the person at this machine, who watches and decides. */
    ...{ permission, sandbox, openSandboxes, ...pickLocal(options) },
    /** Call it after the events file was renamed. The result is a line in the log. */
    reopenEvents: events.reopen,
    assembleWorkspace: (parts: WorkspaceParts) => assembleWorkspace(parts, shared),
    openSearch: (directory: SearchedDirectory, root: string) => openSearchBox(directory, root, searches),
    sessions: createSessions({ create: newSession, now: Date.now, idleMs: 24 * hourMs, max: 10_000 }),
    toolbox: createToolbox({
      tools: Object.values(tools),
      ...selection,
      ...{ workspaces, gate: options.gate, journal: options.journal },
      ...{ secrets, renderDiagram },
      sessionTools: openInnerTools(innerServers, { workspaces, secrets, emit }),
      effects: openEffects(options, emit),
      ...{ emit, onWarning },
    }),
    async [Symbol.asyncDispose]() {
      await options.journal?.[Symbol.asyncDispose]();
      await skills?.close();
      await Promise.all([codeParts.codeServers.close(), codeIndexes.closeAll()]);
      await searches.close();
      await histories?.close();
      await forks?.close();
      emit('lifecycle.stop', () => ({}));
      events[Symbol.dispose]();
    },
  };
}

function pickLocal({ journal, localApprovals }: AppOptions) {
  return { journal, localApprovals };
}

function openEffects({ editChecks }: AppOptions, emit: Emit) {
  return createPostEditChecks({
    ...defaultPostEditSettings,
    ...editChecks,
    detectors: Object.values(detectors),
    emit,
  });
}

/** Throws for a name that is neither a tool nor a toolset. */
function toSelection({ tools: names, readOnly, innerServers = {} }: AppOptions) {
  const known = Object.values(tools).map(({ name }) => name);
  const problem = names && findUnknownTool(names, known);
  if (problem !== undefined) throw new UsageError(`--tools: ${problem}`);
  const { isAllowed, isListed } = selectTools(names);
  return {
    isIncluded: (tool: Tool) => !tool.isHarness && (!readOnly || tool.access === 'read') && isAllowed(tool),
    isListed,
    innerServers: !readOnly && isAllowed(innerTools) ? innerServers : {},
  };
}

function openSecrets({ variables, secretsDirectory: directory }: HostOptions) {
  const ofDirectory = directory === undefined ? [] : [createSecretDirectorySource(directory)];
  return createSecrets([createSecretEnvironmentSource(variables), ...ofDirectory]);
}

/** Opens the workspaces that flags name, and the forks of those workspaces. */
function openWorkspaces(
  mounts: readonly NamedMount[],
  known: Omit<FlagWorkspaceOptions, 'layered' | 'forks'> & {
    readonly skills: SkillsSyncer | undefined;
    readonly durability: Durability | undefined;
  },
  onWarning: AppOptions['onWarning'],
) {
  const { data, histories, sandbox, skills, durability, codeIndexes } = known;
  const withSkills = (workspace: Workspace, isAtOnce: boolean) => skills?.keep(workspace, { isAtOnce }) ?? workspace;
  const layered = histories && data !== undefined ? createOverlays(data, histories, onWarning) : undefined;
  const forks =
    layered &&
    createFlagWorkspaceForks({
      ...{
        layered,
        codeIndexes,
        onWarning,
        durability,
        allowControl: sandbox.allowControl,
        isSandboxed: sandbox.provider !== 'none',
      },
      set: () => workspaces,
      open: (mount) => withSkills(openFlagWorkspace(mount, complete), false),
    });
  const complete: FlagWorkspaceOptions = { ...known, layered, forks };
  const workspaces = createWorkspaceSet(mounts.map((mount) => withSkills(openFlagWorkspace(mount, complete), true)));
  forks?.reopenEarlier(mounts);
  return { workspaces, forks, layered };
}

function openHistories(
  data: string,
  { sandbox: { allowControl }, historyLimits: limits, onWarning }: AppOptions,
): WorkspaceHistories {
  return createWorkspaceHistories({ data, allowControl, limits, onWarning });
}

function toSkills({ skills: directories, onWarning }: AppOptions, emit: Emit): SkillsSyncer | undefined {
  const source = directories && createSkillsSource(directories);
  return source && createSkillsSyncer({ source, emit, onWarning });
}

function emitSandbox(
  { name, root }: { readonly name: string; readonly root: string },
  {
    emit,
    provider,
    sandbox,
  }: { emit: Emit; readonly provider: { readonly name: string } } & Pick<AppOptions, 'sandbox'>,
): void {
  emit('lifecycle.workspace.sandbox', () => ({
    workspace: name,
    sandbox_root: root,
    provider: provider.name,
    network: sandbox.network.mode,
  }));
}
