import type { Registry, SandboxConfig } from '../accounts/ports/registry.ts';
import type { ReservationKey } from '../accounts/ports/reservation-table.ts';
import { withSecretVariables } from '../accounts/surface/sandbox-variables.ts';

/** Returns the config of a persistent sandbox as the records are now. Nothing: a record that it needs is gone. */
export async function findCurrentConfig(
  { accountId, sandboxId, workspaceId }: ReservationKey,
  { sandboxes, workspaces, secrets }: Pick<Registry, 'sandboxes' | 'workspaces' | 'secrets'>,
): Promise<SandboxConfig | undefined> {
  const [sandbox, workspace, values] = await Promise.all([
    sandboxes.open(accountId, sandboxId),
    workspaces.open(accountId, workspaceId),
    secrets.openAll(accountId),
  ]);
  return sandbox && workspace && withSecretVariables(sandbox, values).config;
}
