import { AppError } from '@croft/protocol';
import { resolveSurface, type Surface } from '../core/accounts/cascade.ts';
import type { AgentConfig, Registry, ResourceView } from '../core/accounts/registry.ts';

/** An agent, what it has, and a mark that is another when any of it has changed. */
export interface OpenedAgent {
  readonly agent: ResourceView<AgentConfig>;
  readonly surface: Surface;
  readonly secrets: ReadonlyMap<string, string>;
  readonly mark: string;
  /** The same without the secrets. */
  readonly shape: string;
}

/** Reads it anew for every call: what was taken from an agent is gone at its next call. */
export async function openSurface(registry: Registry, accountId: string, agentId: string): Promise<OpenedAgent> {
  const agent = await registry.agents.open(accountId, agentId);
  if (!agent) throw new AppError('E_NOT_FOUND', 'Agent not found', { details: { agentId } });
  const { sandbox, workspaces = [] } = agent.config;
  const sandboxIds = [sandbox, ...workspaces.map((reference) => reference.sandbox)];
  const [sandboxes, kept, secrets] = await Promise.all([
    openAll(sandboxIds, (id) => registry.sandboxes.open(accountId, id)),
    openAll(
      workspaces.map(({ workspaceId }) => workspaceId),
      (id) => registry.workspaces.open(accountId, id),
    ),
    registry.secrets.openAll(accountId),
  ]);
  const surface = resolveSurface(agent.config, {
    sandbox: (id) => sandboxes.get(id),
    workspace: (id) => kept.get(id),
  });
  const versions = [agent, ...sandboxes.values(), ...kept.values()].map(({ id, version }) => `${id}@${version}`);
  const shape = JSON.stringify(versions);
  return { agent, surface, secrets, shape, mark: JSON.stringify([shape, [...secrets]]) };
}

async function openAll<Row>(
  ids: readonly (string | null | undefined)[],
  open: (id: string) => Promise<Row | undefined>,
): Promise<Map<string, Row>> {
  const wanted = [...new Set(ids.filter((id) => id !== undefined && id !== null))];
  const rows = await Promise.all(wanted.map(async (id) => [id, await open(id)] as const));
  return new Map(rows.flatMap(([id, row]) => (row === undefined ? [] : [[id, row]])));
}
