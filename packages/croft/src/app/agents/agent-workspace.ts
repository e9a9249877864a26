import { AppError } from '@croft/protocol';
import { toCommandSettings } from '../../core/accounts/configs/convert-sandbox-config.ts';
import type { SandboxConfig } from '../../core/accounts/ports/registry.ts';
import type { AttachedWorkspace } from '../../core/accounts/surface/resolve-surface.ts';
import type { SandboxOwner } from '../../core/commands/open-sandboxes.ts';
import type { Sandbox } from '../../core/commands/sandbox.ts';
import type { Forks } from '../../core/history/ports/forks.ts';
import type { Transactions } from '../../core/history/ports/transactions.ts';
import type { ShownNetwork, Workspace } from '../../core/workspace/workspace.ts';
import type { WorkspaceParts } from '../workspaces/assemble-workspace.ts';
import type { RuntimeOptions } from './runtime-options.ts';

/** A workspace on this machine or on a runner, before the rights of an agent are applied. */
export interface WorkspaceBackend
  extends Pick<
    WorkspaceParts,
    | 'root'
    | 'access'
    | 'key'
    | 'files'
    | 'search'
    | 'account'
    | 'listFiles'
    | 'history'
    | 'wrapCall'
    | 'watch'
    | 'checkQuota'
  > {
  openSandbox(config: SandboxConfig): Promise<Sandbox>;
  /** Absent: there are no transactions. */
  transactions?(config: SandboxConfig): Transactions;
  /** Absent: the workspace cannot be forked. */
  forks?(): Forks;
}

type SandboxOptions = Pick<RuntimeOptions, 'assembleWorkspace' | 'openSandboxes' | 'reservations'>;

/** A workspace as one agent has it. An agent without a sandbox for the workspace can only read it. */
export function openAgentWorkspace(
  attached: AttachedWorkspace,
  backend: WorkspaceBackend,
  options: SandboxOptions,
  agentId: string,
): Workspace {
  const { name, record, sandbox } = attached;
  const { root, key, files, search, account, listFiles, wrapCall, watch, checkQuota } = backend;
  const config = backend.access === 'read-write' ? sandbox?.config : undefined;
  const transactions = config && backend.transactions?.(config);
  return options.assembleWorkspace({
    ...{ id: record.id, name, root, key, files, search, account, listFiles, wrapCall, watch, checkQuota },
    access: config ? 'read-write' : 'read-only',
    permission: sandbox?.config.permissionMode ?? 'ask',
    network: config && toShownNetwork(config.network),
    commands: sandbox && toCommandSettings(sandbox.config),
    history: config && backend.history,
    transactions: transactions && ofAgentTransactions(transactions, agentId),
    // An agent that may change nothing in a workspace may not fork it either.
    forks: config && backend.forks?.(),
    openSandbox: () => openAgentSandbox(attached, backend, options, agentId),
  });
}

function toShownNetwork({ mode, allowDomains = [], allowCidrs = [] }: SandboxConfig['network']): ShownNetwork {
  return { mode, hosts: [...allowDomains, ...allowCidrs] };
}

function toSandboxOwner({ name, record, sandbox }: AttachedWorkspace, openedBy: string): SandboxOwner {
  const { accountId, id: workspaceId } = record;
  return { accountId, sandboxId: sandbox?.id ?? '', workspaceId, workspace: name, openedBy };
}

/** All sessions share a persistent sandbox. Any other sandbox is for one session. */
async function openAgentSandbox(
  attached: AttachedWorkspace,
  backend: WorkspaceBackend,
  { openSandboxes, reservations }: SandboxOptions,
  agentId: string,
): Promise<Sandbox> {
  const config = attached.sandbox?.config;
  if (!config) throw new AppError('E_READ_ONLY', 'workspace is read-only: no sandbox available for this command');
  const owner = toSandboxOwner(attached, agentId);
  const open = () => openSandboxes.track(owner, () => backend.openSandbox(config));
  if (!config.persistent) return open();
  const { openedBy: _, ...key } = owner;
  return reservations.use({ key, config, open });
}

/** Prefixes session names with the agent, because callers choose them: two agents may use the same session name. */
function ofAgentTransactions(all: Transactions, agentId: string): Transactions {
  const own = (session: string) => `${agentId} ${session}`;
  return {
    begin: (session, ...rest) => all.begin(own(session), ...rest),
    commit: (session, ...rest) => all.commit(own(session), ...rest),
    discard: (session, id) => all.discard(own(session), id),
    list: (session) => all.list(own(session)),
  };
}
