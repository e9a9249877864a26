import { AppError } from '@croft/protocol';
import { asReadOnly } from '../../core/runner-workspaces/read-only-workspace.ts';
import type { RunnerWorkspace, WorkspaceRequest } from '../../core/runner-workspaces/runner-workspace.ts';
import type { ObjectStore } from '../../core/storage/object-store.ts';
import type { WorkspaceMount } from '../../core/storage/workspace-mount.ts';
import type { KeyedLock } from '../../lib/concurrency/keyed-lock.ts';
import type { DataDirectory } from '../../storages/index.ts';
import { type LocalWorkspaceParts, openLocalWorkspaceParts } from '../workspaces/local-workspace-parts.ts';
import type { WorkspaceHistories } from '../workspaces/workspace-histories.ts';
import type { BucketWorkspaceRequest, BucketWorkspaces } from './bucket-workspaces.ts';
import { type RunnerParts, type RunnerWorkspaceOptions, toRunnerWorkspace } from './to-runner-workspace.ts';
import { openWorkspaceForks } from './workspace-forks.ts';

const namespacePattern = /^fs-[0-9a-f]{40}$/;

interface RunnerWorkspaceSources {
  readonly named: ReadonlyMap<string, WorkspaceMount>;
  /** Workspaces below the runner's root. Without it, only the workspaces in `named` can be opened. */
  readonly localWorkspaces?: DataDirectory | undefined;
  readonly buckets?: BucketWorkspaces | undefined;
  /** Locks by namespace, so that a fork is not removed while it is being made. */
  readonly lock: KeyedLock;
  readonly histories: WorkspaceHistories;
}

/** Opens workspaces of this runner for a server. */
export function createWorkspaceOpener(
  { named, localWorkspaces, buckets, lock, histories }: RunnerWorkspaceSources,
  options: RunnerWorkspaceOptions,
) {
  const { provider, policy, layered } = options;
  const isSandboxed = provider.name !== 'none';
  /** Workspaces with a quota. All users of a workspace share one count. */
  const local = new Map<string, LocalWorkspaceParts>();

  function openLocal({ namespace, workspace, name, quota }: WorkspaceRequest): RunnerParts {
    const mount = named.get(workspace) ?? mustMake(localWorkspaces, namespace).open(namespace, name);
    const key = JSON.stringify([mount.handle, quota]);
    const parts = local.get(key) ?? openLocalWorkspaceParts(mount, { quota, histories });
    if (quota) local.set(key, parts);
    return { ...parts, name, files: parts.guarded(mount.files), root: isSandboxed ? mount.root : mount.directory };
  }

  async function openInBucket(
    request: WorkspaceRequest & BucketWorkspaceRequest,
    objects: ObjectStore,
  ): Promise<RunnerParts> {
    const stored = mustMake(buckets, request.namespace);
    const workspace = await stored.open(request, objects);
    const { root, files } = workspace.named(request.name);
    return { ...workspace, name: request.name, files, root: isSandboxed ? root : stored.filesOf(request.namespace) };
  }

  async function open(request: WorkspaceRequest, openObjects?: (id: string) => ObjectStore): Promise<RunnerWorkspace> {
    const { bucket } = request;
    if (bucket && !openObjects)
      throw new AppError(
        'E_NOT_FOUND',
        'this workspace is in a bucket, which a runner reaches only through the server of its account: update that server',
      );
    const workspace =
      bucket && openObjects
        ? toRunnerWorkspace(await openInBucket({ ...request, bucket }, openObjects(bucket.objects)), options)
        : withForks(openLocal(request), request);
    return policy.isReadOnly ? asReadOnly(workspace) : workspace;
  }

  function withForks(parts: RunnerParts, request: WorkspaceRequest): RunnerWorkspace {
    const { tree, directoryFd, history } = parts;
    const workspace = toRunnerWorkspace(parts, options);
    if (!history) return workspace;
    const forks = openWorkspaceForks({ tree, directoryFd, history }, request, {
      layered,
      histories,
      named,
      localWorkspaces,
      lock,
    });
    return { ...workspace, forks };
  }

  return {
    open,
    /** Forgets a workspace whose handle is about to be closed: the number will be reused. */
    forget(handle: number): void {
      for (const key of local.keys()) if (key.startsWith(`[${handle},`)) local.delete(key);
    },
  };
}

/** Throws unless this runner makes new workspaces and the server sent a valid namespace. */
function mustMake<T>(makes: T | undefined, namespace: string): T {
  if (makes === undefined)
    throw new AppError(
      'E_NOT_FOUND',
      'this runner does not have that workspace, and makes no new ones: ask its operator to start it with --root DIR',
    );
  mustBeNamespace(namespace);
  return makes;
}

/** The namespace becomes the name of a directory. */
export function mustBeNamespace(namespace: string): void {
  if (!namespacePattern.test(namespace))
    throw new AppError('E_INVALID_INPUT', 'the namespace of the workspace is not valid');
}
