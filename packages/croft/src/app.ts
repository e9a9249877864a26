import { createEmitter } from './core/events.ts';
import { detectProfile } from './core/profile.ts';
import type { ReadTracker } from './core/read-tracker.ts';
import type { Provider, SandboxLimits } from './core/sandbox.ts';
import type { SearchBoxProvider } from './core/search-box.ts';
import { createSecrets } from './core/secrets.ts';
import { createSession, createSessions } from './core/session.ts';
import { createToolbox } from './core/toolbox.ts';
import type { Workspace, WorkspaceAccess } from './core/workspace.ts';
import { createWorkspaceSet } from './core/workspace-set.ts';
import * as detectors from './detectors/index.ts';
import { openEventFile } from './lib/event-file.ts';
import { once } from './lib/once.ts';
import { createDirectorySource, createEnvironmentSource } from './lib/secret-sources.ts';
import { createBubblewrap, createSearchBoxes } from './providers/index.ts';
import { openMounts, type WorkspaceSource } from './storages/index.ts';
import * as tools from './tools/index.ts';

export interface AppOptions {
  readonly workspaces: readonly WorkspaceSource[];
  readonly readOnly: boolean;
  /** Lifecycle events are appended here, a JSON line each. */
  readonly eventsFile?: string | undefined;
  /** Of the operator: toolchains are found by these, and secrets come from these. */
  readonly host: HostOptions;
  /** Told what an operator should know and no caller can act on. */
  onWarning(message: string): void;
}

export interface HostOptions {
  readonly path: string;
  readonly home: string;
  /** Variables, of which `CROFT_SECRET_…` are secrets. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly secretsDirectory?: string | undefined;
}

export type App = ReturnType<typeof createApp>;

/** Of each sandbox, unless its record says otherwise. */
const limits: SandboxLimits = {
  memoryBytes: 2 * 1024 ** 3,
  processes: 512,
  cpus: 2,
  fileBytes: 4 * 1024 ** 3,
  openFiles: 4096,
  diskBytes: 2 * 1024 ** 3,
};
const sandboxIdleMs = 10 * 60_000;

const hourMs = 3_600_000;

/** The one place where parts meet. Read this to see the whole program. */
export function createApp({ workspaces: sources, readOnly, eventsFile, host, onWarning }: AppOptions) {
  const mounts = openMounts(sources);
  const sink = eventsFile === undefined ? undefined : openEventFile(eventsFile);
  const emit = createEmitter({
    sinks: sink ? [sink] : [],
    now: () => new Date(),
    onSinkFailure: (thrown) => onWarning(`events cannot be written to ${eventsFile}: ${thrown}`),
  });
  const provider = createBubblewrap(host);
  const searchBoxes = createSearchBoxes();
  const access = readOnly ? 'read-only' : 'read-write';
  const workspaces = createWorkspaceSet(mounts.map((mount) => toWorkspace(mount, { provider, searchBoxes, access })));
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
    emit('lifecycle.workspace.sandbox', () => ({ workspace: name, sandbox_root: root, provider: provider.name }));
  }

  return {
    workspaces,
    emit,
    newSession,
    sessions: createSessions({ create: newSession, now: Date.now, idleMs: 24 * hourMs, max: 10_000 }),
    toolbox: createToolbox({
      tools: Object.values(tools),
      allowed: new Set(readOnly ? ['read'] : ['read', 'write', 'execute']),
      workspaces,
      secrets,
      emit,
    }),
    [Symbol.dispose]() {
      emit('lifecycle.stop', () => ({}));
      sink?.[Symbol.dispose]();
    },
  };
}

type NamedMount = ReturnType<typeof openMounts>[number];

interface Means {
  readonly provider: Provider;
  readonly searchBoxes: SearchBoxProvider;
  readonly access: WorkspaceAccess;
}

function toWorkspace({ name, root, handle, files }: NamedMount, { provider, searchBoxes, access }: Means): Workspace {
  return {
    name,
    root,
    access,
    files,
    searchBox: once(() => searchBoxes.open({ directory: handle, workspacePath: root, programs: ['rg'] })),
    openSandbox: () =>
      provider.open({ directory: handle, workspacePath: root, limits, network: { mode: 'deny-all' }, readable: [] }),
    profile: () => detectProfile(Object.values(detectors), files),
  };
}
