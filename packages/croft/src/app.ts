import { createEmitter } from './core/events.ts';
import { detectProfile } from './core/profile.ts';
import type { Provider } from './core/sandbox.ts';
import { createSessions } from './core/session.ts';
import { createToolbox } from './core/toolbox.ts';
import type { Workspace, WorkspaceAccess } from './core/workspace.ts';
import { createWorkspaceSet } from './core/workspace-set.ts';
import * as detectors from './detectors/index.ts';
import { openEventFile } from './lib/event-file.ts';
import { once } from './lib/once.ts';
import { createBubblewrap } from './providers/index.ts';
import { openMounts, type WorkspaceSource } from './storages/index.ts';
import * as tools from './tools/index.ts';

export interface AppOptions {
  readonly workspaces: readonly WorkspaceSource[];
  readonly readOnly: boolean;
  /** Lifecycle events are appended here, a JSON line each. */
  readonly eventsFile?: string | undefined;
  /** Told what an operator should know and no caller can act on. */
  onWarning(message: string): void;
}

export type App = ReturnType<typeof createApp>;

const hourMs = 3_600_000;

/** The one place where parts meet. Read this to see the whole program. */
export function createApp({ workspaces: sources, readOnly, eventsFile, onWarning }: AppOptions) {
  const mounts = openMounts(sources);
  const sink = eventsFile === undefined ? undefined : openEventFile(eventsFile);
  const emit = createEmitter({
    sinks: sink ? [sink] : [],
    now: () => new Date(),
    onSinkFailure: (thrown) => onWarning(`events cannot be written to ${eventsFile}: ${thrown}`),
  });
  const provider = createBubblewrap();
  const access = readOnly ? 'read-only' : 'read-write';
  const workspaces = createWorkspaceSet(mounts.map((mount) => toWorkspace(mount, provider, access)));

  emit('lifecycle.start', () => ({ workspaces: workspaces.names, read_only: readOnly }));
  for (const { name, root } of mounts) {
    emit('lifecycle.workspace.sandbox', () => ({ workspace: name, sandbox_root: root, provider: provider.name }));
  }

  return {
    workspaces,
    emit,
    sessions: createSessions({ now: Date.now, idleMs: 24 * hourMs, max: 10_000 }),
    toolbox: createToolbox({
      tools: Object.values(tools),
      allowed: new Set(readOnly ? ['read'] : ['read', 'write', 'execute']),
      workspaces,
      emit,
    }),
    [Symbol.dispose]() {
      emit('lifecycle.stop', () => ({}));
      sink?.[Symbol.dispose]();
    },
  };
}

type NamedMount = ReturnType<typeof openMounts>[number];

function toWorkspace(
  { name, root, handle, files }: NamedMount,
  provider: Provider,
  access: WorkspaceAccess,
): Workspace {
  return {
    name,
    root,
    access,
    files,
    sandbox: once(() => provider.open({ directory: handle, workspacePath: root, programs: ['rg'] })),
    profile: () => detectProfile(Object.values(detectors), files),
  };
}
