import type { Provider } from '../core/commands/sandbox.ts';
import type { PermissionMode } from '../core/workspace/permission.ts';
import type { Workspace, WorkspaceAccess } from '../core/workspace/workspace.ts';
import { realpathOf } from '../lib/files/workspace-owner.ts';
import type { NamedMount } from '../storages/index.ts';
import type { FlagWorkspaceForks } from './forks/flag-workspace-forks.ts';
import { openTransactions } from './forks/open-transactions.ts';
import type { Overlays } from './forks/overlays.ts';
import { type AssembleWorkspaceOptions, assembleWorkspace } from './workspaces/assemble-workspace.ts';
import { openLocalParts } from './workspaces/local-parts.ts';
import type { SandboxOptions } from './workspaces/sandbox-options.ts';
import type { WorkspaceHistories } from './workspaces/workspace-histories.ts';

export interface FlagWorkspaceOptions extends AssembleWorkspaceOptions {
  readonly provider: Provider;
  /** Without it, workspaces have no history. */
  readonly histories?: WorkspaceHistories | undefined;
  readonly layered?: Overlays | undefined;
  readonly forks?: FlagWorkspaceForks | undefined;
  readonly access: WorkspaceAccess;
  readonly permission: PermissionMode;
  readonly sandbox: SandboxOptions;
}

/** Opens a workspace that a flag names. */
export function openFlagWorkspace(mount: NamedMount, options: FlagWorkspaceOptions): Workspace {
  const { name, root, handle, files, mustBeThere } = mount;
  const { provider, histories, layered, access, permission } = options;
  const { limits, network, readable, allowControl, personal } = options.sandbox;
  const parts = histories && openLocalParts(mount, { histories });
  const { history, watch } = parts ?? {};
  const openSandbox = async (directoryFd: number) => {
    mustBeThere();
    return provider.open({
      ...{ directoryFd, workspacePath: root, limits, network },
      ...{ readable, allowControl, personal },
    });
  };
  return assembleWorkspace(
    {
      ...{ id: name, name, root, access, permission, files, history, watch, mayOpenEarly: true },
      ...{
        key: realpathOf(handle),
        search: { directoryFd: () => handle, mustBeThere, ...(parts && { tree: parts.tree }) },
      },
      openSandbox: () => openSandbox(handle),
      transactions: parts?.history && layered && openTransactions(layered, { ...parts, openSandbox }),
      forks: history && options.forks?.of({ name, handle }, history),
    },
    options,
  );
}
