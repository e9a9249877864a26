import type { AgentFence } from '@croft/protocol';
import type { AgentSurface } from '../../core/accounts/surface/resolve-surface.ts';
import type { Toolbox } from '../../core/calls/toolbox.ts';

/** The fence of an agent, with what its sandboxes reach. */
export function toAgentFence(
  agentId: string,
  fences: ReturnType<Toolbox['fence']>,
  surface: AgentSurface,
  secrets: readonly string[],
): AgentFence {
  return {
    agentId,
    secrets: [...secrets],
    workspaces: fences.map(({ workspace, ...kinds }) => {
      const { name, id: workspaceId, access, permission: permissionMode } = workspace;
      const sandbox = surface.stateless ?? surface.workspaces.find((one) => one.name === name)?.sandbox;
      return {
        ...{ name, workspaceId, access, permissionMode, ...kinds },
        ...(sandbox && {
          sandbox: { sandboxId: sandbox.id, name: sandbox.name, provider: sandbox.config.provider },
          network: toNetwork(sandbox.config.network),
        }),
        secrets: [...(sandbox?.secretNames ?? [])],
        allowControl: [...(sandbox?.config.allowControl ?? [])],
      };
    }),
  };
}

export function toNetwork({
  mode,
  allowDomains,
  allowCidrs,
}: {
  readonly mode: 'allow-all' | 'deny-all' | 'restricted';
  readonly allowDomains?: readonly string[] | undefined;
  readonly allowCidrs?: readonly string[] | undefined;
}) {
  return {
    mode,
    ...(allowDomains && { allowDomains: [...allowDomains] }),
    ...(allowCidrs && { allowCidrs: [...allowCidrs] }),
  };
}
