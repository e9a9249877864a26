import type { Actor, Registry } from '../core/accounts/registry.ts';
import type { Agents } from './agents.ts';
import type { WorkspaceRecord } from './places.ts';
import type { Fleet } from './runners/fleet.ts';

/** A workspace goes with its files, once nothing refers to it any more. */
export function withFiles(registry: Registry, removeFiles: (record: WorkspaceRecord) => Promise<unknown>): Registry {
  const { workspaces } = registry;
  return {
    ...registry,
    workspaces: {
      ...workspaces,
      async remove(actor, id, expect) {
        const record = await workspaces.open(actor.accountId, id);
        await workspaces.remove(actor, id, expect);
        if (record) await removeFiles(record);
      },
    },
  };
}

/** What an agent has running ends with it. */
export function withClosing(
  registry: Registry,
  running: Pick<Agents, 'closeOf' | 'closeStale'> & { readonly dropRunner: Fleet['drop'] },
  /** Whatever has buckets open. */
  buckets: readonly { reopen(accountId: string): unknown }[],
): Registry {
  const { agents, sandboxes, keys, runners, secrets } = registry;
  const { closeOf, closeStale, dropRunner } = running;
  // What fails here is done by the next sweep: the change itself was made.
  const closing = async <T>({ accountId }: Actor, changed: T): Promise<T> => {
    await closeStale(accountId).catch(() => {});
    return changed;
  };
  return {
    ...registry,
    agents: {
      ...agents,
      async remove(actor, id, expect) {
        await agents.remove(actor, id, expect);
        await closeOf(actor.accountId, id);
      },
      patch: async (actor, ...change) => closing(actor, await agents.patch(actor, ...change)),
    },
    sandboxes: {
      ...sandboxes,
      patch: async (actor, ...change) => closing(actor, await sandboxes.patch(actor, ...change)),
    },
    secrets: {
      ...secrets,
      // Buckets are opened with them.
      async put(actor, ...change) {
        const answer = await secrets.put(actor, ...change);
        await Promise.allSettled(buckets.map(async ({ reopen }) => reopen(actor.accountId)));
        return answer;
      },
    },
    runners: {
      ...runners,
      async revoke(actor, name) {
        await runners.revoke(actor, name);
        dropRunner(actor.accountId, name, 'the token of the runner was revoked');
      },
      async rotate(actor, name) {
        const made = await runners.rotate(actor, name);
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
