import type { Registry } from '../../core/accounts/ports/registry.ts';
import type { Reservations } from '../../core/reservations/reservations.ts';
import type { Terminals } from '../../core/terminals/terminals.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { createWorkspaceRemoval } from './remove-workspace.ts';

interface AccountFilesRemovalOptions {
  readonly registry: Pick<Registry, 'workspaces'>;
  readonly removal: Pick<ReturnType<typeof createWorkspaceRemoval>, 'removeAll'>;
  readonly fleet: Pick<Fleet, 'dropAll'>;
  readonly reservations: Pick<Reservations, 'endThose'>;
  readonly agents: { closeOf(accountId: string): Promise<void> };
  readonly terminals: Pick<Terminals, 'endOf'>;
  /** Tells the other servers. Absent: there are none. */
  readonly wakeUps?: { account(accountId: string): void } | undefined;
}

/** Ends everything that an account runs, and removes everything of it that is outside the records. */
export function createAccountFilesRemoval(options: AccountFilesRemovalOptions) {
  const { registry, removal, fleet, reservations, agents, terminals, wakeUps } = options;
  return async (accountId: string, workspaceIds: readonly string[]): Promise<Record<string, number>> => {
    wakeUps?.account(accountId);
    await Promise.all([agents.closeOf(accountId), terminals.endOf(accountId)]);
    await reservations.endThose((key) => key.accountId === accountId, 'its account was removed');
    const found = await Promise.all(workspaceIds.map((id) => registry.workspaces.open(accountId, id)));
    const removing = found.map(async (record) => record !== undefined && removal.removeAll(record));
    // Runners stay connected until their files of the account are removed.
    const removed = await Promise.all(removing).finally(() => fleet.dropAll(accountId));
    return { filesystemsDeleted: removed.filter(Boolean).length };
  };
}
