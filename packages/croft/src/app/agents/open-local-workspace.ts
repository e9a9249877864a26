import { toConfiguredLimits } from '../../core/accounts/configs/convert-sandbox-config.ts';
import type { SandboxConfig } from '../../core/accounts/ports/registry.ts';
import type { AttachedWorkspace } from '../../core/accounts/surface/resolve-surface.ts';
import { allowControlFiles } from '../../core/files/allow-control-files.ts';
import type { Workspace } from '../../core/workspace/workspace.ts';
import type { ServersAccount } from '../workspaces/language-servers-of-workspaces.ts';
import type { OpenedWorkspace } from '../workspaces/opened-workspaces.ts';
import { openAgentWorkspace, type WorkspaceBackend } from './agent-workspace.ts';
import { openAccountSandbox } from './open-account-sandbox.ts';
import type { RuntimeOptions } from './runtime-options.ts';

/** A workspace of an account on this machine, as one agent has it. */
export function openLocalWorkspace(attached: AttachedWorkspace, options: RuntimeOptions, agentId: string): Workspace {
  const { name, record, sandbox, reads } = attached;
  const direct = reads === 'direct' ? options.openedWorkspaces.directly(record, name) : undefined;
  const opened = options.openedWorkspaces.of(record);
  const { root, files } = direct ?? opened.named(name);
  const { key, directoryFd, mustBeThere, history, watch, checkQuota } = opened;
  const backend: WorkspaceBackend = {
    ...{ root, key, watch, checkQuota, history, access: 'read-write' },
    files: allowControlFiles(files, { names: sandbox?.config.allowControl }),
    search: { directoryFd, mustBeThere, tree: opened.tree },
    account: toServersAccount(attached, options),
    ...(direct ? { listFiles: direct.listFiles } : { wrapCall: opened.wrapCall }),
    ...openSandboxes(attached, opened, options),
    ...(history && { forks: () => options.openForks(record, agentId) }),
  };
  return openAgentWorkspace(attached, backend, options, agentId);
}

/** Language servers count as sandboxes of the account, and each gets at most what the agent's own sandbox may have. */
function toServersAccount({ record, sandbox }: AttachedWorkspace, options: RuntimeOptions): ServersAccount {
  return {
    id: record.accountId,
    limits: sandbox ? toConfiguredLimits(sandbox.config, options.limits) : options.limits,
    countSandbox: (open) => options.accountQuota.openSandbox(record.accountId, open),
  };
}

/** Sandboxes over the directory of the workspace, and over the layers of its transactions. */
function openSandboxes(
  { name, record }: AttachedWorkspace,
  { tree, directoryFd, mustBeThere, history, left }: OpenedWorkspace,
  options: RuntimeOptions,
): Pick<WorkspaceBackend, 'openSandbox' | 'transactions'> {
  const openIn = (rootFd: number, config: SandboxConfig, remainingQuota?: OpenedWorkspace['left']) => {
    const { accountId } = record;
    const location = { accountId, directoryFd: rootFd, workspacePath: `/workspaces/${name}`, remainingQuota };
    return options.accountQuota.openSandbox(accountId, () => openAccountSandbox(config, location, options));
  };
  return {
    async openSandbox(config) {
      mustBeThere();
      return openIn(await directoryFd(), config, left);
    },
    ...(history && {
      transactions: (config) =>
        options.openTransactions({ tree, directoryFd, openSandbox: (layer) => openIn(layer, config) }),
    }),
  };
}
