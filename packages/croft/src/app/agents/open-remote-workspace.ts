import { AppError } from '@croft/protocol';
import {
  toCommandSettings,
  toConfiguredLimits,
  toNetworkPolicy,
} from '../../core/accounts/configs/apply-sandbox-config.ts';
import type { AttachedWorkspace } from '../../core/accounts/surface/resolve-surface.ts';
import { variablesOf } from '../../core/accounts/surface/sandbox-variables.ts';
import { cannotForkOnRunner, isInBucket } from '../../core/accounts/surface/workspace-location.ts';
import { setUpSandbox, withEnvironment } from '../../core/commands/set-up-sandbox.ts';
import { openFilesLazily } from '../../core/files/open-files-lazily.ts';
import { wrapWithHistory } from '../../core/history/checkpoints/wrap-with-history.ts';
import type { Forks } from '../../core/history/ports/forks.ts';
import type { RunnerWorkspace, SandboxRequest } from '../../core/runner-workspaces/runner-workspace.ts';
import type { Workspace } from '../../core/workspace/workspace.ts';
import { ofAgentTransactions } from './agent-transactions.ts';
import type { RuntimeOptions } from './runtime-options.ts';

type RemoteWorkspaceOptions = Pick<
  RuntimeOptions,
  'searchAndChecks' | 'accountQuota' | 'limits' | 'sharesNetwork' | 'openForks'
>;

/**
 * A workspace on a runner, as one agent has it. Every operation goes to the runner and nothing is stored on this
 * machine.
 */
export function openRemoteWorkspace(
  attached: AttachedWorkspace,
  remote: RunnerWorkspace | AppError,
  options: RemoteWorkspaceOptions,
  agentId: string,
): Workspace {
  const { name, record, sandbox } = attached;
  const offered = remote instanceof AppError ? toUnavailable(name, remote) : remote;
  const { root, files, watch } = offered;
  const isWritable = sandbox !== undefined && offered.access === 'read-write';
  return {
    ...{ id: record.id, name, root, files },
    access: isWritable ? 'read-write' : 'read-only',
    permission: sandbox?.config.permissionMode ?? 'ask',
    commands: sandbox && toCommandSettings(sandbox.config),
    ...options.searchAndChecks({
      name,
      root,
      key: `${record.config.home ?? 'runner'}:${record.id}`,
      files,
      ...noDirectory,
    }),
    withSearchBox: offered.withSearchBox,
    // Servers run where the files are, and runners do not start them yet.
    languageServers: undefined,
    ...(watch && { watch }),
    ...toHistory(offered, isWritable),
    ...(isWritable && toTransactions(attached, offered, options, agentId)),
    ...(isWritable && { forks: toForks(attached, remote, options, agentId) }),
    openSandbox: createSandboxOpener(attached, offered, options),
  };
}

/** The runner's wrapper of calls also records them in the history. */
function toHistory(
  { history, wrapCall }: RunnerWorkspace,
  isWritable: boolean,
): Pick<Workspace, 'history' | 'wrapCall'> {
  if (!isWritable || !history) return wrapCall ? { wrapCall } : {};
  return { history, wrapCall: wrapCall ?? wrapWithHistory(history) };
}

function createSandboxOpener(
  { record, sandbox }: AttachedWorkspace,
  offered: RunnerWorkspace,
  options: RemoteWorkspaceOptions,
) {
  let isFirst = true;
  return async () => {
    if (!sandbox) throw new AppError('E_READ_ONLY', 'workspace is read-only: no sandbox available for this command');
    const { config } = sandbox;
    const wanted = toWanted(sandbox, options);
    const variables = variablesOf(config);
    const opened = await options.accountQuota.openSandbox(record.accountId, () => offered.openSandbox(wanted));
    const commands = isFirst ? config.onCreate : config.onResume;
    isFirst = false;
    return setUpSandbox(withEnvironment(opened, variables), commands ?? []);
  };
}

function toTransactions(
  { sandbox }: AttachedWorkspace,
  { transactions }: RunnerWorkspace,
  options: RemoteWorkspaceOptions,
  agentId: string,
): Pick<Workspace, 'transactions'> {
  if (!sandbox || !transactions) return {};
  return { transactions: ofAgentTransactions(transactions(toWanted(sandbox, options)), agentId) };
}

/** Forks on the same runner. Without it, every operation throws the reason. */
function toForks(
  { record }: AttachedWorkspace,
  remote: RunnerWorkspace | AppError,
  options: RemoteWorkspaceOptions,
  agentId: string,
): Forks {
  const why = remote instanceof AppError ? remote : isInBucket(record) && cannotForkOnRunner();
  if (!why) return options.openForks(record, agentId);
  const refuse = async (): Promise<never> => {
    throw why;
  };
  return { fork: refuse, list: refuse, merge: refuse, remove: refuse };
}

/** The runner's own policy decides about everything else. */
function toWanted(
  { config }: NonNullable<AttachedWorkspace['sandbox']>,
  options: RemoteWorkspaceOptions,
): SandboxRequest {
  const { allowControl = [] } = config;
  return {
    limits: toConfiguredLimits(config, options.limits),
    network: toNetworkPolicy(config, options.sharesNetwork),
    // Omitted when empty, because older runners do not know the field.
    ...(allowControl.length > 0 && { allowControl }),
  };
}

/** This machine has no directory of the workspace. */
const noDirectory = {
  directoryFd(): never {
    throw new AppError('E_SANDBOX_UNAVAILABLE', 'this workspace is on a runner');
  },
  mustBeThere() {},
};

/** Stands for a workspace whose runner is unavailable: every call throws the reason. */
function toUnavailable(name: string, why: AppError): RunnerWorkspace {
  const refuse = async (): Promise<never> => {
    throw why;
  };
  return {
    root: `/workspaces/${name}`,
    access: 'read-write',
    files: openFilesLazily(refuse),
    withSearchBox: refuse,
    openSandbox: refuse,
  };
}
