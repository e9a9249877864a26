import type { Provider, Sandbox } from '../../core/commands/sandbox.ts';
import type { SearchBox } from '../../core/content/search/search-box.ts';
import { allowControlFiles } from '../../core/files/allow-control-files.ts';
import type { Files } from '../../core/files/files.ts';
import { guardFiles } from '../../core/quota/guard-files.ts';
import { narrowToPolicy, type RunnerPolicy } from '../../core/runner-workspaces/runner-policy.ts';
import type { RunnerWorkspace, SandboxRequest } from '../../core/runner-workspaces/runner-workspace.ts';
import type { WorkspaceQuota } from '../../core/storage/stored-mount.ts';
import type { WorkspaceMount } from '../../core/storage/workspace-mount.ts';
import { type Overlays, openTransactions } from '../forks/overlays.ts';
import { openLocalQuota, wrapWithQuota } from '../workspaces/local-quota.ts';
import type { OpenedWorkspace } from '../workspaces/opened-workspaces.ts';
import type { SearchBoxPool } from '../workspaces/search-box-pool.ts';
import type { WorkspaceHistories } from '../workspaces/workspace-histories.ts';

/** What a runner needs to build its workspaces. */
export interface AssembleOptions {
  readonly provider: Provider;
  readonly readable: readonly string[];
  readonly policy: RunnerPolicy;
  readonly searches: SearchBoxPool;
  readonly histories: WorkspaceHistories;
  readonly layered: Overlays;
  /** Opens a sandbox, unless the runner is at its capacity. */
  counted(open: () => Promise<Sandbox>): Promise<Sandbox>;
}

/** The parts of a workspace on this machine, in a directory or in a bucket. */
export interface WorkspaceParts
  extends Pick<OpenedWorkspace, 'directoryFd' | 'mustBeThere' | 'tree' | 'history' | 'left' | 'watch'>,
    Pick<WorkspaceMount, 'root' | 'files'> {
  /** Without it, a call needs nothing but its record in the history. */
  readonly wrapCall?: OpenedWorkspace['wrapCall'] | undefined;
  /** Applies the same quota to files opened under another name. Without it, the workspace has no quota. */
  guarded?(files: Files): Files;
}

/** A directory of this machine, used in place. */
export function toLocalParts(
  mount: WorkspaceMount,
  quota: WorkspaceQuota | undefined,
  histories: WorkspaceHistories,
): WorkspaceParts {
  const { handle, root, mustBeThere } = mount;
  const files = allowControlFiles(mount.files, { names: histories.allowControl });
  const guard = openLocalQuota(handle, { quota, histories });
  const history = histories.of(handle);
  return {
    ...{ root, files, mustBeThere, history, directoryFd: async () => handle },
    tree: () => histories.treeOf(handle),
    watch: (onChange, signal) => histories.watch(handle, onChange, signal),
    ...(guard && { left: guard.left, guarded: (files) => guardFiles(files, guard) }),
    wrapCall: guard && wrapWithQuota({ guard, history, tree: () => histories.rawTreeOf(handle) }),
  };
}

export function assembleWorkspace(parts: WorkspaceParts, options: AssembleOptions): RunnerWorkspace {
  const { root, files, history, wrapCall, watch, directoryFd, mustBeThere, tree } = parts;
  const { layered, policy, provider, readable, searches } = options;
  const openSandboxIn = async (handle: number, wanted: SandboxRequest, left?: WorkspaceParts['left']) => {
    mustBeThere();
    const spec = {
      directoryFd: handle,
      workspacePath: root,
      readable,
      remainingQuota: left,
      ...narrowToPolicy(policy, wanted),
    };
    return options.counted(() => provider.open(spec));
  };
  return {
    ...{ root, access: 'read-write', files, watch },
    withSearchBox: async <T>(work: (box: SearchBox) => Promise<T>) =>
      searches.openIn({ directoryFd: await directoryFd(), workspacePath: root }, mustBeThere)(work),
    openSandbox: async (wanted) => openSandboxIn(await directoryFd(), wanted, parts.left),
    ...(wrapCall && { wrapCall }),
    ...(history && { history }),
    ...(history && {
      transactions: (wanted) =>
        openTransactions(layered, { tree, directoryFd, openSandbox: (layer) => openSandboxIn(layer, wanted) }),
    }),
  };
}
