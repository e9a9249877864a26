import { flagsAgentId, flagsSandboxId, operatorId } from '../core/accounts/access/operator-ids.ts';
import type { OpenSandboxes, SandboxOwner } from '../core/commands/open-sandboxes.ts';
import type { Provider } from '../core/commands/sandbox.ts';
import type { PermissionMode } from '../core/workspace/permission.ts';
import type { ShownNetwork, Workspace, WorkspaceAccess } from '../core/workspace/workspace.ts';
import { realpathOf } from '../lib/files/workspace-owner.ts';
import type { NamedMount } from '../storages/index.ts';
import type { FlagWorkspaceForks } from './forks/flag-workspace-forks.ts';
import { openTransactions } from './forks/open-transactions.ts';
import type { Overlays } from './forks/overlays.ts';
import { type AssembleWorkspaceOptions, assembleWorkspace } from './workspaces/assemble-workspace.ts';
import { openLocalWorkspaceParts } from './workspaces/local-workspace-parts.ts';
import type { SandboxOptions } from './workspaces/sandbox-options.ts';
import type { WorkspaceHistories } from './workspaces/workspace-histories.ts';

export interface FlagWorkspaceOptions extends AssembleWorkspaceOptions {
  readonly provider: Provider;
  readonly openSandboxes: OpenSandboxes;
  /** Without it, workspaces have no history. */
  readonly histories?: WorkspaceHistories | undefined;
  readonly layered?: Overlays | undefined;
  readonly forks?: FlagWorkspaceForks | undefined;
  readonly access: WorkspaceAccess;
  readonly permission: PermissionMode;
  readonly sandbox: SandboxOptions;
}

function toShownNetwork(network: SandboxOptions['network']): ShownNetwork {
  if (network.mode === 'restricted') return { mode: 'restricted', hosts: [...network.domains, ...network.cidrs] };
  return { mode: network.mode === 'deny-all' ? 'deny-all' : 'allow-all', hosts: [] };
}

/** Sessions and terminals of the operator open sandboxes in the same way. */
function toOwner(workspace: string): SandboxOwner {
  const ids = { accountId: operatorId, sandboxId: flagsSandboxId, workspaceId: workspace };
  return { ...ids, workspace, openedBy: flagsAgentId };
}

/** Opens a workspace that a flag names. */
export function openFlagWorkspace(mount: NamedMount, options: FlagWorkspaceOptions): Workspace {
  const { name, root, handle, files, mustBeThere } = mount;
  const { provider, histories, layered, access, permission } = options;
  const { limits, network, readable, allowControl, personal } = options.sandbox;
  const parts = histories && openLocalWorkspaceParts(mount, { histories });
  const { history, watch } = parts ?? {};
  const openSandbox = async (directoryFd: number) => {
    mustBeThere();
    return options.openSandboxes.track(toOwner(name), () =>
      provider.open({
        ...{ directoryFd, workspacePath: root, limits, network },
        ...{ readable, allowControl, personal },
      }),
    );
  };
  return assembleWorkspace(
    {
      ...{ id: name, name, root, access, permission, files, history, watch, mayOpenEarly: true },
      network: toShownNetwork(network),
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
