import type { ServerMode } from '../../core/code/ports/language-servers.ts';
import { createCodeQuestions } from '../../core/code/questions/create-code-questions.ts';
import type { Provider, Sandbox } from '../../core/commands/sandbox.ts';
import { narrowFilesToPolicy, narrowToPolicy, type RunnerPolicy } from '../../core/runner-workspaces/runner-policy.ts';
import type { RunnerWorkspace, SandboxRequest } from '../../core/runner-workspaces/runner-workspace.ts';
import type { WorkspaceMount } from '../../core/storage/workspace-mount.ts';
import { openTransactions } from '../forks/open-transactions.ts';
import type { Overlays } from '../forks/overlays.ts';
import type { WorkspaceIndexes } from '../workspaces/code-indexes-of-workspaces.ts';
import type { LanguageServersOfWorkspaces } from '../workspaces/language-servers-of-workspaces.ts';
import type { LocalWorkspaceParts } from '../workspaces/local-workspace-parts.ts';
import { openSearchBox } from '../workspaces/open-search-box.ts';
import type { SearchBoxPool } from '../workspaces/search-box-pool.ts';

export interface RunnerWorkspaceOptions {
  readonly provider: Provider;
  readonly readable: readonly string[];
  readonly policy: RunnerPolicy;
  readonly searches: SearchBoxPool;
  readonly codeServers: LanguageServersOfWorkspaces;
  readonly codeIndexes: WorkspaceIndexes;
  readonly layered: Overlays;
  /** Opens a sandbox, unless the runner is at its capacity. */
  counted(open: () => Promise<Sandbox>): Promise<Sandbox>;
}

/** The parts of a workspace on this runner, in a directory or in a bucket. */
export type RunnerParts = Omit<LocalWorkspaceParts, 'checkQuota' | 'guarded'> &
  Pick<WorkspaceMount, 'root' | 'files'> & { readonly name: string };

/**
 * Makes the runner's side of a workspace that a server uses. Sandboxes open only within the policy and the capacity of
 * this runner.
 */
export function toRunnerWorkspace(parts: RunnerParts, options: RunnerWorkspaceOptions): RunnerWorkspace {
  const { key, root, files, history, wrapCall, watch, directoryFd, mustBeThere, tree } = parts;
  const { layered, policy, provider, readable } = options;
  const openSandboxIn = async (handle: number, wanted: SandboxRequest, remainingQuota?: RunnerParts['left']) => {
    mustBeThere();
    const location = { directoryFd: handle, workspacePath: root, readable, remainingQuota };
    const spec = { ...location, ...narrowToPolicy(policy, wanted) };
    return options.counted(() => provider.open(spec));
  };
  const withSearchBox = openSearchBox({ directoryFd, mustBeThere }, root, options.searches);
  return {
    ...{
      root,
      access: 'read-write',
      files: narrowFilesToPolicy(policy, files),
      watch,
      wrapCall,
      history,
      withSearchBox,
    },
    codeIndex: options.codeIndexes.of({ key, files, withSearchBox, directoryFd, mustBeThere, tree }),
    code: (mode) =>
      createCodeQuestions({ files, withSearchBox, languageServers: openServers(parts, mode, options.codeServers) }),
    openSandbox: async (wanted) => openSandboxIn(await directoryFd(), wanted, parts.left),
    ...(history && {
      transactions: (wanted) =>
        openTransactions(layered, { tree, directoryFd, openSandbox: (layer) => openSandboxIn(layer, wanted) }),
    }),
  };
}

/** The language servers of this runner, in its own mode or in that of the server, whichever allows less. */
function openServers(parts: RunnerParts, wanted: ServerMode, codeServers: LanguageServersOfWorkspaces) {
  const { serverMode, whyNone } = codeServers;
  if (serverMode === undefined) return `on its runner, ${whyNone}`;
  return codeServers.of(parts, serverMode === 'safe' ? 'safe' : wanted);
}
