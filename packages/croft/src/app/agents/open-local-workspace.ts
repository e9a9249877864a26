import { AppError } from '@croft/protocol';
import { toCommandSettings } from '../../core/accounts/configs/apply-sandbox-config.ts';
import type { ResourceView, SandboxConfig } from '../../core/accounts/ports/registry.ts';
import type { AttachedWorkspace } from '../../core/accounts/surface/resolve-surface.ts';
import { setUpSandbox } from '../../core/commands/set-up-sandbox.ts';
import { allowControlFiles } from '../../core/files/allow-control-files.ts';
import type { Workspace } from '../../core/workspace/workspace.ts';
import type { OpenedWorkspace } from '../workspaces/opened-workspaces.ts';
import { ofAgentTransactions } from './agent-transactions.ts';
import { openAccountSandbox, type RuntimeOptions } from './runtime-options.ts';

/** A workspace of an account on this machine, as one agent has it. */
export function openLocalWorkspace(attached: AttachedWorkspace, options: RuntimeOptions, agentId: string): Workspace {
  const { name, record, sandbox, reads } = attached;
  const direct = reads === 'direct' ? options.openedWorkspaces.directly(record, name) : undefined;
  const workspace = options.openedWorkspaces.of(record);
  const { root, files: own } = direct ?? workspace.named(name);
  const files = allowControlFiles(own, { names: sandbox?.config.allowControl });
  const { key, directoryFd, mustBeThere, wrapCall, watch } = workspace;
  return {
    ...{ id: record.id, name, root, files, watch },
    access: sandbox ? 'read-write' : 'read-only',
    permission: sandbox?.config.permissionMode ?? 'ask',
    commands: sandbox && toCommandSettings(sandbox.config),
    ...options.searchAndChecks({ ...{ name, root, key, directoryFd, mustBeThere, tree: workspace.tree }, files }),
    ...(direct ? { listFiles: direct.listFiles } : { wrapCall }),
    ...(workspace.checkQuota && { checkQuota: workspace.checkQuota }),
    ...(sandbox &&
      workspace.history && {
        history: workspace.history,
        transactions: toTransactions(attached, workspace, options, agentId),
      }),
    // An agent that may change nothing in a workspace may not fork it either.
    ...(sandbox && workspace.history && { forks: options.openForks(record, agentId) }),
    openSandbox: createSandboxOpener(attached, workspace, options),
  };
}

type Opened = Pick<AttachedWorkspace, 'name' | 'record' | 'sandbox'>;

/** The first sandbox runs the commands in `onCreate`, every later sandbox those in `onResume`. */
function createSandboxOpener(attached: Opened, workspace: OpenedWorkspace, options: RuntimeOptions) {
  const { sandbox } = attached;
  let isFirst = true;
  return async () => {
    if (!sandbox) throw new AppError('E_READ_ONLY', 'workspace is read-only: no sandbox available for this command');
    workspace.mustBeThere();
    const opened = await openIn(await workspace.directoryFd(), sandbox, attached, options, workspace.left);
    const commands = isFirst ? sandbox.config.onCreate : sandbox.config.onResume;
    isFirst = false;
    return setUpSandbox(opened, commands ?? []);
  };
}

function openIn(
  directory: number,
  sandbox: ResourceView<SandboxConfig>,
  { name, record }: Opened,
  options: RuntimeOptions,
  left?: OpenedWorkspace['left'],
) {
  const location = { directoryFd: directory, workspacePath: `/workspaces/${name}`, remainingQuota: left };
  return options.accountQuota.openSandbox(record.accountId, () =>
    openAccountSandbox(sandbox.config, location, options),
  );
}

function toTransactions(
  attached: Opened,
  { tree, directoryFd }: OpenedWorkspace,
  options: RuntimeOptions,
  agentId: string,
) {
  const { sandbox } = attached;
  const all = options.openTransactions({
    ...{ tree, directoryFd },
    openSandbox: (layer) => {
      if (!sandbox) throw new AppError('E_READ_ONLY', 'workspace is read-only: no sandbox available for this command');
      return openIn(layer, sandbox, attached, options);
    },
  });
  return ofAgentTransactions(all, agentId);
}
