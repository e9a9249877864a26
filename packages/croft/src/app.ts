import { createFlagForks, type FlagForks } from './app/flag-forks.ts';
import { furnish } from './app/furnish.ts';
import { createHistories, type Histories } from './app/histories.ts';
import { type InnerServers, openInnerTools } from './app/inner-tools.ts';
import { createLayered, type Layered, openTransactions } from './app/layered.ts';
import { openProvider } from './app/open-provider.ts';
import type { FurnishedPlace } from './app/runtime-means.ts';
import { createSearches, type Searches } from './app/searches.ts';
import { createSkillsSource, type SkillsDirectories } from './app/skills-source.ts';
import { createEffects } from './core/checks/effects.ts';
import type { NetworkPolicy } from './core/commands/network-policy.ts';
import type { Provider, Sandbox, SandboxLimits } from './core/commands/sandbox.ts';
import type { ReadTracker } from './core/content/read-tracker.ts';
import type { Durability } from './core/durability.ts';
import { createEmitter, type Emit } from './core/events.ts';
import { keepHistory } from './core/history/around.ts';
import type { Gate } from './core/passage.ts';
import type { PermissionMode } from './core/permission.ts';
import { createSecrets } from './core/secrets.ts';
import { createSession, createSessions } from './core/session.ts';
import { createSkillsKeeper, type SkillsKeeper } from './core/skills/keep-skills.ts';
import { createToolbox } from './core/toolbox.ts';
import type { Workspace, WorkspaceAccess } from './core/workspace.ts';
import { createWorkspaceSet } from './core/workspace-set.ts';
import * as detectors from './detectors/index.ts';
import { openEventFile } from './lib/event-file.ts';
import { createDirectorySource, createEnvironmentSource } from './lib/secret-sources.ts';
import { realpathOf } from './lib/workspace-owner.ts';
import type { ProviderName } from './providers/index.ts';
import { openMounts, type WorkspaceSource } from './storages/index.ts';
import * as tools from './tools/index.ts';

export interface AppOptions {
  readonly workspaces: readonly WorkspaceSource[];
  readonly readOnly: boolean;
  /** Which calls a person has to agree to. Left out: none, because the client asks its own person. */
  readonly permission?: PermissionMode | undefined;
  /** Where they agree. Left out: whatever needs that is refused. */
  readonly gate?: Gate | undefined;
  /** What a change to a file waits for before it is answered. Left out: strict. */
  readonly durability?: Durability | undefined;
  /** Whether files are formatted after a write. */
  readonly formatOnEdit?: boolean | undefined;
  /** Lifecycle events are appended here, a JSON line each. */
  readonly eventsFile?: string | undefined;
  /** Of the operator: toolchains are found by these, and secrets come from these. */
  readonly host: HostOptions;
  /** Left out: none. */
  readonly innerServers?: InnerServers | undefined;
  /** What workspaces that are worked in are to have besides their own. Left out: nothing. */
  readonly skills?: SkillsDirectories | undefined;
  /** Where results of checks are kept; left out, they go with the program. */
  readonly data?: string | undefined;
  readonly sandbox: SandboxOptions;
  /** In place of the one `sandbox` names, for a test that takes a part of the fence away. */
  readonly provider?: Provider | undefined;
  /** Told what an operator should know and no caller can act on. */
  onWarning(message: string): void;
}

export interface HostOptions {
  readonly path: string;
  readonly home: string;
  /** Variables, of which `CROFT_SECRET_…` are secrets. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly secretsDirectory?: string | undefined;
  /** Where Docker listens. Left out: where it usually does. */
  readonly dockerSocket?: string | undefined;
}

/** How the sandboxes of every workspace are opened. */
export interface SandboxOptions {
  readonly provider: ProviderName;
  /** Of the provider docker. Left out: commands have the programs of this machine. */
  readonly image?: string | undefined;
  readonly network: NetworkPolicy;
  readonly limits: SandboxLimits;
  /** Further directories that commands may read. */
  readonly readable: readonly string[];
  /** Where the package caches of workspaces are kept. Left out: they go with their sandbox. */
  readonly caches?: string | undefined;
}

const gigabyte = 1024 ** 3;

/** Of each sandbox, unless somebody says otherwise. */
export const defaultSandbox: SandboxOptions = {
  provider: 'bubblewrap',
  network: { mode: 'deny-all' },
  limits: {
    memoryBytes: 2 * gigabyte,
    processes: 512,
    cpus: 2,
    fileBytes: 4 * gigabyte,
    openFiles: 4096,
    diskBytes: 2 * gigabyte,
  },
  readable: [],
};

export type App = ReturnType<typeof createApp>;

const sandboxIdleMs = 10 * 60_000;
const hourMs = 3_600_000;

/** The one place where parts meet. Read this to see the whole program. */
export function createApp(options: AppOptions) {
  const { readOnly, eventsFile, host, sandbox, durability, onWarning } = options;
  // Without a fence there is no other name for a directory than its own.
  const sources =
    sandbox.provider === 'none' ? options.workspaces.map(({ root: _, ...own }) => own) : options.workspaces;
  const mounts = openMounts(sources, durability);
  const sink = eventsFile === undefined ? undefined : openEventFile(eventsFile);
  const emit = createEmitter({
    sinks: sink ? [sink] : [],
    now: () => new Date(),
    onSinkFailure: (thrown) => onWarning(`events cannot be written to ${eventsFile}: ${thrown}`),
  });
  const provider = openProvider(options, options.provider);
  const searches = createSearches();
  const histories = options.data === undefined ? undefined : createHistories({ data: options.data, onWarning });
  const access = readOnly ? 'read-only' : 'read-write';
  const { permission = 'bypass' } = options;
  const skills = toSkills(options, emit);
  const known = { provider, searches, histories, permission, sandbox, data: options.data, emit, skills, durability };
  const { workspaces, forks, layered } = openWorkspaces(mounts, { ...known, access }, onWarning);
  const secrets = createSecrets([
    createEnvironmentSource(host.variables),
    ...(host.secretsDirectory === undefined ? [] : [createDirectorySource(host.secretsDirectory)]),
  ]);
  const newSession = (id: string, reads?: ReadTracker) =>
    createSession(id, {
      sandboxIdleMs,
      openSandbox: (name) => workspaces.pick(name).openSandbox(),
      ...(reads && { reads }),
    });

  emit('lifecycle.start', () => ({ workspaces: workspaces.names, read_only: readOnly }));
  for (const { name, root } of mounts) {
    emit('lifecycle.workspace.sandbox', () => ({
      workspace: name,
      sandbox_root: root,
      provider: provider.name,
      network: sandbox.network.mode,
    }));
  }

  return {
    ...{ workspaces, emit, newSession, provider, histories, layered, skills },
    furnish: (place: FurnishedPlace) => furnish(place, { searches, data: options.data, emit }),
    sessions: createSessions({ create: newSession, now: Date.now, idleMs: 24 * hourMs, max: 10_000 }),
    toolbox: createToolbox({
      tools: Object.values(tools),
      offers: ({ access: wanted, isHarness }) => !isHarness && (!readOnly || wanted === 'read'),
      workspaces,
      gate: options.gate,
      secrets,
      more: readOnly ? undefined : openInnerTools(options.innerServers ?? {}, { workspaces, secrets, emit }),
      effects: createEffects({
        detectors: Object.values(detectors),
        formatOnEdit: options.formatOnEdit ?? false,
        emit,
      }),
      emit,
    }),
    async [Symbol.asyncDispose]() {
      await skills?.close();
      await searches.close();
      await histories?.close();
      await forks?.close();
      emit('lifecycle.stop', () => ({}));
      sink?.[Symbol.dispose]();
    },
  };
}

/** Those that were given, and what was forked from them. */
function openWorkspaces(
  mounts: readonly NamedMount[],
  known: Omit<Means, 'layered' | 'forks'>,
  onWarning: AppOptions['onWarning'],
) {
  const { data, histories, sandbox, skills, durability } = known;
  const withSkills = (workspace: Workspace, isAtOnce: boolean) => skills?.keep(workspace, { isAtOnce }) ?? workspace;
  const layered = histories && data !== undefined ? createLayered(data, histories, onWarning) : undefined;
  const forks =
    layered &&
    createFlagForks({
      ...{ layered, onWarning, durability, isFenced: sandbox.provider !== 'none' },
      set: () => workspaces,
      open: (mount) => withSkills(toWorkspace(mount, means), false),
    });
  const means: Means = { ...known, layered, forks };
  const workspaces = createWorkspaceSet(mounts.map((mount) => withSkills(toWorkspace(mount, means), true)));
  forks?.bringBack(mounts);
  return { workspaces, forks, layered };
}

function toSkills({ skills: directories, onWarning }: AppOptions, emit: Emit): SkillsKeeper | undefined {
  const source = directories && createSkillsSource(directories);
  return source && createSkillsKeeper({ source, emit, onWarning });
}

type NamedMount = ReturnType<typeof openMounts>[number];

interface Means {
  readonly data: string | undefined;
  readonly emit: Emit;
  readonly provider: Provider;
  readonly searches: Searches;
  /** Left out: nothing of what workspaces were is kept. */
  readonly histories?: Histories | undefined;
  readonly layered?: Layered | undefined;
  /** Left out: the server has none of its own. */
  readonly skills?: SkillsKeeper | undefined;
  readonly forks?: FlagForks | undefined;
  readonly durability: Durability | undefined;
  readonly access: WorkspaceAccess;
  readonly permission: PermissionMode;
  readonly sandbox: SandboxOptions;
}

function toWorkspace({ name, root, handle, files, mustBeThere }: NamedMount, means: Means): Workspace {
  const { provider, access } = means;
  const { limits, network, readable } = means.sandbox;
  const history = means.histories?.of(handle);
  const openSandboxIn = async (directory: number) => {
    mustBeThere();
    return provider.open({ directory, workspacePath: root, limits, network, readable });
  };
  return {
    id: name,
    name,
    root,
    access,
    permission: means.permission,
    files,
    ...furnish({ name, root, key: realpathOf(handle), directory: () => handle, files, mustBeThere }, means),
    ...(history && { history, around: keepHistory(history), forks: means.forks?.of({ name, handle }, history) }),
    ...(history && means.layered && { transactions: toTransactions(handle, means.layered, openSandboxIn) }),
    ...toWatch(handle, means),
    openSandbox: () => openSandboxIn(handle),
  };
}

function toWatch(handle: number, { histories }: Pick<Means, 'histories'>): Pick<Workspace, 'watch'> {
  return histories ? { watch: (onChange, signal) => histories.watch(handle, onChange, signal) } : {};
}

function toTransactions(handle: number, layered: Layered, openSandbox: (directory: number) => Promise<Sandbox>) {
  const { histories } = layered;
  return openTransactions(layered, {
    tree: () => histories.treeOf(handle),
    directory: async () => handle,
    openSandbox,
  });
}
