import type { AgentFence } from '@croft/protocol';
import { flagsAgentId, flagsSandboxId, operatorId } from '../../core/accounts/access/operator-ids.ts';
import { toNetwork } from '../agents/agent-fence.ts';
import type { App } from '../app.ts';
import { createFlagWorkspaceRecords } from './flag-workspace-records.ts';

/** Says what MCP clients may do in the workspaces that flags name. */
export async function toOperatorFence(app: App): Promise<AgentFence> {
  const { config } = await createFlagWorkspaceRecords(app).sandboxes.get(
    { accountId: operatorId, label: 'operator', scopes: [] },
    flagsSandboxId,
  );
  return {
    agentId: flagsAgentId,
    secrets: [],
    workspaces: app.toolbox.fence().map(({ workspace, ...kinds }) => ({
      ...{ name: workspace.name, workspaceId: workspace.id, access: workspace.access },
      ...{ permissionMode: workspace.permission, ...kinds },
      sandbox: { sandboxId: flagsSandboxId, name: app.provider.name, provider: app.provider.name },
      network: toNetwork(config.network),
      secrets: [],
      allowControl: [...(config.allowControl ?? [])],
    })),
  };
}
