import type { Actor, Registry } from '../../core/accounts/ports/registry.ts';
import type { Reservations } from '../../core/reservations/reservations.ts';
import type { Agents } from '../agents/agents.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { WorkspaceRecord } from '../workspaces/opened-workspaces.ts';

/**
 * Removes the files of a workspace with its record, once nothing refers to it. Its persistent sandboxes end first, so
 * that no program writes to it. Objects are removed before the record,
 * because the record says where they are and which secret opens them. If they cannot be deleted, the record stays and
 * the removal can be repeated.
 */
export function withFileRemoval(
  registry: Registry,
  {
    endSandboxes,
    removeObjects,
    removeFiles,
  }: { [part in 'endSandboxes' | 'removeObjects' | 'removeFiles']: (of: WorkspaceRecord) => Promise<unknown> },
): Registry {
  const { workspaces } = registry;
  return {
    ...registry,
    workspaces: {
      ...workspaces,
      async remove(actor, id, expect) {
        const record = await workspaces.mustBeRemovable(actor, id, expect);
        await endSandboxes(record);
        await removeObjects(record);
        await workspaces.remove(actor, id, expect);
        await removeFiles(record);
      },
    },
  };
}

/** Ends the sessions and sandboxes of an agent that is removed, or that loses a workspace, a sandbox or a secret. */
export function withRuntimeClosing(
  registry: Registry,
  running: Pick<Agents, 'closeOf' | 'closeStale'> & {
    readonly dropRunner: Fleet['drop'];
    readonly reservations: Pick<Reservations, 'forget'>;
    /** Notifies other servers that run sessions of the account. Absent: there are no other servers. */
    readonly tellOthers?: ((accountId: string) => void) | undefined;
  },
  /** Everything that has buckets open. */
  buckets: readonly { reopen(accountId: string): unknown }[],
): Registry {
  const { agents, sandboxes, workspaces, keys, runners, secrets } = registry;
  const { closeOf, closeStale, dropRunner, tellOthers } = running;
  // The change itself is made. If closing fails, the next sweep repeats it.
  const closing = async <T>({ accountId }: Actor, changed: T): Promise<T> => {
    tellOthers?.(accountId);
    await closeStale(accountId).catch(() => {});
    return changed;
  };
  return {
    ...registry,
    agents: {
      ...agents,
      async remove(actor, id, expect) {
        await agents.remove(actor, id, expect);
        tellOthers?.(actor.accountId);
        await closeOf(actor.accountId, id);
      },
      patch: async (actor, ...change) => closing(actor, await agents.patch(actor, ...change)),
    },
    sandboxes: {
      ...sandboxes,
      async remove(actor, id, expect) {
        await sandboxes.remove(actor, id, expect);
        tellOthers?.(actor.accountId);
        await running.reservations.forget(actor.accountId, { sandboxId: id });
      },
      patch: async (actor, ...change) => closing(actor, await sandboxes.patch(actor, ...change)),
    },
    workspaces: {
      ...workspaces,
      patch: async (actor, ...change) => closing(actor, await workspaces.patch(actor, ...change)),
    },
    secrets: {
      ...secrets,
      // Buckets are opened with secrets.
      async put(actor, ...change) {
        const answer = await secrets.put(actor, ...change);
        await Promise.allSettled(buckets.map(async ({ reopen }) => reopen(actor.accountId)));
        return closing(actor, answer);
      },
      remove: async (actor, ...which) => closing(actor, await secrets.remove(actor, ...which)),
    },
    runners: {
      ...runners,
      async revoke(actor, name) {
        await runners.revoke(actor, name);
        tellOthers?.(actor.accountId);
        dropRunner(actor.accountId, name, 'the token of the runner was revoked');
      },
      async rotate(actor, name) {
        const made = await runners.rotate(actor, name);
        tellOthers?.(actor.accountId);
        dropRunner(actor.accountId, name, 'the token of the runner was replaced');
        return made;
      },
    },
    keys: {
      ...keys,
      revoke: async (actor, keyId) => closing(actor, await keys.revoke(actor, keyId)),
      rotate: async (actor, keyId) => closing(actor, await keys.rotate(actor, keyId)),
    },
  };
}
