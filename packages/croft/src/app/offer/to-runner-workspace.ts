import type { Provider, Sandbox } from '../../core/commands/sandbox.ts';
import { narrowFilesToPolicy, narrowToPolicy, type RunnerPolicy } from '../../core/runner-workspaces/runner-policy.ts';
import type { RunnerWorkspace, SandboxRequest } from '../../core/runner-workspaces/runner-workspace.ts';
import type { WorkspaceMount } from '../../core/storage/workspace-mount.ts';
import { openTransactions } from '../forks/open-transactions.ts';
import type { Overlays } from '../forks/overlays.ts';
import type { LocalParts } from '../workspaces/local-parts.ts';
import { openSearchBox } from '../workspaces/open-search-box.ts';
import type { SearchBoxPool } from '../workspaces/search-box-pool.ts';

export interface RunnerWorkspaceOptions {
  readonly provider: Provider;
  readonly readable: readonly string[];
  readonly policy: RunnerPolicy;
  readonly searches: SearchBoxPool;
  readonly layered: Overlays;
  /** Opens a sandbox, unless the runner is at its capacity. */
  counted(open: () => Promise<Sandbox>): Promise<Sandbox>;
}

/** The parts of a workspace on this runner, in a directory or in a bucket. */
export type RunnerParts = Omit<LocalParts, 'key' | 'checkQuota' | 'guarded'> & Pick<WorkspaceMount, 'root' | 'files'>;

/** Makes what a server gets of a workspace: sandboxes open only within the policy and the capacity of this runner. */
export function toRunnerWorkspace(parts: RunnerParts, options: RunnerWorkspaceOptions): RunnerWorkspace {
  const { root, files, history, wrapCall, watch, directoryFd, mustBeThere, tree } = parts;
  const { layered, policy, provider, readable } = options;
  const openSandboxIn = async (handle: number, wanted: SandboxRequest, remainingQuota?: RunnerParts['left']) => {
    mustBeThere();
    const location = { directoryFd: handle, workspacePath: root, readable, remainingQuota };
    const spec = { ...location, ...narrowToPolicy(policy, wanted) };
    return options.counted(() => provider.open(spec));
  };
  return {
    ...{ root, access: 'read-write', files: narrowFilesToPolicy(policy, files), watch, wrapCall, history },
    withSearchBox: openSearchBox({ directoryFd, mustBeThere }, root, options.searches),
    openSandbox: async (wanted) => openSandboxIn(await directoryFd(), wanted, parts.left),
    ...(history && {
      transactions: (wanted) =>
        openTransactions(layered, { tree, directoryFd, openSandbox: (layer) => openSandboxIn(layer, wanted) }),
    }),
  };
}
