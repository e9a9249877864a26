import type { openClient } from '../open-client.ts';

type AccountClient = Pick<ReturnType<typeof openClient>, 'agents' | 'workspaces'>;

/**
 * Deletes a workspace, and with it the agents that `croft exec` and programs have made for it alone, which nobody would
 * know to delete. Every other agent that has the workspace keeps it from being deleted.
 */
export async function removeWorkspace({ agents, workspaces }: AccountClient, workspaceId: string): Promise<void> {
  for (const { agentId, name, config } of await Array.fromAsync(agents.all())) {
    const [own, ...others] = config.workspaces ?? [];
    const isMade = name.startsWith('box ') && name.includes(workspaceId);
    if (isMade && own?.workspaceId === workspaceId && others.length === 0) await agents.remove(agentId);
  }
  await workspaces.remove(workspaceId);
}
