import { AppError } from '@croft/protocol';
import { forkNameTaken } from '../../core/history/forks/create-forks.ts';
import type { Fork, Forks } from '../../core/history/ports/forks.ts';
import type { History } from '../../core/history/ports/history.ts';
import type {
  ForkRequest,
  RunnerFork,
  RunnerForks,
  WorkspaceRequest,
} from '../../core/runner-workspaces/runner-workspace.ts';
import type { WorkspaceMount } from '../../core/storage/workspace-mount.ts';
import type { KeyedLock } from '../../lib/concurrency/keyed-lock.ts';
import type { DataDirectory } from '../../storages/index.ts';
import { type ForkRegistrar, openLocalForks } from '../forks/local-forks.ts';
import type { Overlays } from '../forks/overlays.ts';
import type { WorkspaceHistories } from '../workspaces/workspace-histories.ts';
import type { RunnerParts } from './to-runner-workspace.ts';

interface WorkspaceForksOptions {
  readonly layered: Overlays;
  readonly histories: WorkspaceHistories;
  /** Workspaces that the operator of this runner named. */
  readonly named: ReadonlyMap<string, WorkspaceMount>;
  /** The directory for new workspaces and forks. Without it, nothing can be forked. */
  readonly localWorkspaces?: DataDirectory | undefined;
  /** Locks by namespace, so that a fork is not removed while it is being made. */
  readonly lock: KeyedLock;
}

type ForkedWorkspaceParts = Pick<RunnerParts, 'tree' | 'directoryFd'> & { readonly history: History };

/** Forks of a workspace on this runner. They are always made below its root directory. */
export function openWorkspaceForks(
  workspace: ForkedWorkspaceParts,
  { namespace: key, workspace: name }: WorkspaceRequest,
  options: WorkspaceForksOptions,
): RunnerForks {
  const { layered, named, lock } = options;
  /** Forks that are being made, by name. */
  const wanted = new Map<string, ForkRequest>();
  const { tree, directoryFd, history } = workspace;
  const forks = openLocalForks(layered, {
    tree,
    directoryFd,
    history,
    key,
    name,
    registrar: createForkRegistrar(wanted, options),
  });

  async function make(request: ForkRequest, signal: AbortSignal): Promise<RunnerFork> {
    const { name: called, snapshot } = request;
    mustHaveRoot(options);
    // A server finds the operator's directories by name, and would take that directory for the fork.
    if (wanted.has(called) || named.has(called)) throw forkNameTaken(called);
    wanted.set(called, request);
    try {
      return show(await forks.fork({ name: called, snapshot, session: '', signal }));
    } finally {
      wanted.delete(called);
    }
  }

  return {
    fork: (wish, signal) => lock.run(wish.namespace, () => make(wish, signal)),
    list: async () => (await forks.list()).map(show),
    merge: forks.merge,
    forget: (called) => forget(called, forks, workspace),
  };
}

/** The server knows who has a fork. The runner only makes and removes its files. */
function createForkRegistrar(wanted: ReadonlyMap<string, ForkRequest>, options: WorkspaceForksOptions): ForkRegistrar {
  const { histories } = options;
  return {
    async reserve(name) {
      const request = wanted.get(name);
      if (!request) throw new AppError('E_NOT_FOUND', `the server did not request the fork ${name}`);
      const { namespace: id, workspaceId } = request;
      return { id, workspaceId, target: mustHaveRoot(options).siteOf(id) };
    },
    async onCreated() {},
    openTree: async ({ id }) => histories.treeOf(mustHaveRoot(options).open(id, id).handle),
    async remove({ id }) {
      await mustHaveRoot(options).remove(id);
    },
  };
}

/** Deletes the note of the tree that a removed fork started from. A fork that still exists needs it for a merge. */
async function forget(name: string, forks: Pick<Forks, 'list'>, { tree }: ForkedWorkspaceParts): Promise<void> {
  if ((await forks.list()).some((fork) => fork.name === name))
    throw new AppError('E_CONFLICT', `the fork ${name} still exists: remove it first`);
  await (await tree()).store.dropNotes('fork', [name]);
}

function mustHaveRoot({ localWorkspaces }: WorkspaceForksOptions): DataDirectory {
  if (localWorkspaces) return localWorkspaces;
  throw new AppError(
    'E_INVALID_INPUT',
    'the runner of this workspace has no directory for forks: ask its operator to start it with --root DIR',
  );
}

function show({ name, workspaceId, createdAt }: Fork): RunnerFork {
  return { name, workspaceId, createdAt };
}
