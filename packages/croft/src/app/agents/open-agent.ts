import { AppError } from '@croft/protocol';
import { createPerAccountCache } from '../../core/accounts/lifecycle/per-account-cache.ts';
import type { Records } from '../../core/accounts/ports/records.ts';
import type { AgentConfig, Registry, ResourceView } from '../../core/accounts/ports/registry.ts';
import { type AgentSurface, resolveSurface } from '../../core/accounts/surface/resolve-surface.ts';
import { withSecretVariables } from '../../core/accounts/surface/sandbox-variables.ts';

/** An agent, everything it has, and a mark that changes when any of it changes. */
export interface OpenedAgent {
  readonly agent: ResourceView<AgentConfig>;
  readonly surface: AgentSurface;
  readonly secrets: ReadonlyMap<string, string>;
  readonly mark: string;
}

export type OpenAgent = ReturnType<typeof createOpenAgent>;

/**
 * Opens an agent as its records are now, so access that was taken away is gone at the next call. Throws `E_NOT_FOUND`.
 */
export function createOpenAgent({ registry, records }: { readonly registry: Registry; readonly records: Records }) {
  const unchanged = createPerAccountCache<OpenedAgent>(records);
  return (accountId: string, agentId: string, asOf?: number): Promise<OpenedAgent> =>
    unchanged({ accountId, name: agentId, asOf, read: () => readSurface(registry, accountId, agentId) });
}

async function readSurface(registry: Registry, accountId: string, agentId: string): Promise<OpenedAgent> {
  const agent = await registry.agents.open(accountId, agentId);
  if (!agent) throw new AppError('E_NOT_FOUND', 'Agent not found', { details: { agentId } });
  const { sandbox, workspaces = [] } = agent.config;
  const sandboxIds = [sandbox, ...workspaces.map((reference) => reference.sandbox)];
  const [sandboxes, workspaceRecords, secrets] = await Promise.all([
    openAll(sandboxIds, (id) => registry.sandboxes.open(accountId, id)),
    openAll(
      workspaces.map(({ workspaceId }) => workspaceId),
      (id) => registry.workspaces.open(accountId, id),
    ),
    registry.secrets.openAll(accountId),
  ]);
  const filled = new Map(Array.from(sandboxes, ([id, row]) => [id, withSecretVariables(row, secrets)]));
  const surface = resolveSurface(agent.config, {
    sandbox: (id) => filled.get(id),
    workspace: (id) => workspaceRecords.get(id),
  });
  const versions = [agent, ...sandboxes.values(), ...workspaceRecords.values()].map(
    ({ id, version }) => `${id}@${version}`,
  );
  return { agent, surface, secrets, mark: JSON.stringify([versions, [...secrets]]) };
}

async function openAll<Row>(
  ids: readonly (string | null | undefined)[],
  open: (id: string) => Promise<Row | undefined>,
): Promise<Map<string, Row>> {
  const wanted = [...new Set(ids.filter((id) => id !== undefined && id !== null))];
  const rows = await Promise.all(wanted.map(async (id) => [id, await open(id)] as const));
  return new Map(rows.flatMap(([id, row]) => (row === undefined ? [] : [[id, row]])));
}
