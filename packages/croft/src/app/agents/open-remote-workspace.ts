import { AppError } from '@croft/protocol';
import { toConfiguredLimits, toNetworkPolicy } from '../../core/accounts/configs/convert-sandbox-config.ts';
import type { SandboxConfig } from '../../core/accounts/ports/registry.ts';
import type { AttachedWorkspace } from '../../core/accounts/surface/resolve-surface.ts';
import { variablesOf } from '../../core/accounts/surface/sandbox-variables.ts';
import { cannotForkOnRunner, isInBucket } from '../../core/accounts/surface/workspace-location.ts';
import { withEnvironment } from '../../core/commands/set-up-sandbox.ts';
import { allowControlFiles } from '../../core/files/allow-control-files.ts';
import { openFilesLazily } from '../../core/files/open-files-lazily.ts';
import type { Forks } from '../../core/history/ports/forks.ts';
import type { RunnerWorkspace, SandboxRequest } from '../../core/runner-workspaces/runner-workspace.ts';
import type { Workspace } from '../../core/workspace/workspace.ts';
import { openAgentWorkspace, type WorkspaceBackend } from './agent-workspace.ts';
import type { RuntimeOptions } from './runtime-options.ts';

type RemoteWorkspaceOptions = Pick<
  RuntimeOptions,
  'assembleWorkspace' | 'accountQuota' | 'openSandboxes' | 'reservations' | 'limits' | 'sharesNetwork' | 'openForks'
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
  const { root, access, files, watch, history, wrapCall, withSearchBox, code, codeIndex, transactions } = offered;
  const backend: WorkspaceBackend = {
    ...{ root, access, watch, history, wrapCall, search: { withSearchBox, code, codeIndex } },
    files: allowControlFiles(files, { names: sandbox?.config.allowControl }),
    key: `${record.config.home ?? 'runner'}:${record.id}`,
    async openSandbox(config) {
      const request = toSandboxRequest(config, options);
      const open = () => offered.openSandbox(request);
      return withEnvironment(await options.accountQuota.openSandbox(record.accountId, open), variablesOf(config));
    },
    ...(transactions && { transactions: (config) => transactions(toSandboxRequest(config, options)) }),
    forks: () => toForks(attached, remote, options, agentId),
  };
  return openAgentWorkspace(attached, backend, options, agentId);
}

/** Forks on the same runner. If there can be none, every operation throws the reason. */
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
function toSandboxRequest(config: SandboxConfig, options: RemoteWorkspaceOptions): SandboxRequest {
  const { allowControl = [] } = config;
  return {
    limits: toConfiguredLimits(config, options.limits),
    network: toNetworkPolicy(config, options.sharesNetwork),
    // Omitted when empty, because older runners do not know the field.
    ...(allowControl.length > 0 && { allowControl }),
  };
}

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
