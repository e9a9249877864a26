import { createAuditJournal } from '../core/accounts/audit-journal.ts';
import type { Quotas } from '../core/accounts/context.ts';
import { createRegistry } from '../core/accounts/create-registry.ts';
import type { ProviderTraits } from '../core/accounts/provider-traits.ts';
import type { Records } from '../core/accounts/records.ts';
import type { Actor, Registry } from '../core/accounts/registry.ts';
import type { ApprovalsOptions } from '../core/approvals/create-approvals.ts';
import { createApprovals } from '../core/approvals/create-approvals.ts';
import { createEffects } from '../core/checks/effects.ts';
import type { Provider, SandboxLimits } from '../core/commands/sandbox.ts';
import type { Emit } from '../core/events.ts';
import * as detectors from '../detectors/index.ts';
import { deriveKey } from '../lib/crypto/keyring.ts';
import { createKeptWorkspaces, type KeptWorkspaces, namespaceOf } from '../storages/index.ts';
import * as tools from '../tools/index.ts';
import { createAccountRoom, type RoomLimits } from './account-room.ts';
import { type Agents, createAgents } from './agents.ts';
import { openSealedRecords, type SealedOptions } from './open-records.ts';
import type { RuntimeMeans } from './runtime-means.ts';
import { startSweeping } from './sweep.ts';

export interface PlatformOptions extends SealedOptions {
  /** The one that accounts may choose. */
  readonly provider: Provider;
  /** The most any sandbox gets. */
  readonly limits: SandboxLimits;
  /** Whether accounts may reach what this machine does. Left out: only what is public. */
  readonly sharesNetwork?: boolean | undefined;
  /** At most, of one account. */
  readonly room?: Partial<RoomLimits> | undefined;
  readonly furnish: RuntimeMeans['furnish'];
  readonly formatOnEdit: boolean;
  readonly emit: Emit;
  onSweepFailure(thrown: unknown): void;
  readonly onApprovalRequested?: ApprovalsOptions['onRequested'];
}

export type Platform = Awaited<ReturnType<typeof createPlatform>>;

const quotas: Quotas = { agents: 1000, sandboxes: 1000, workspaces: 1000, keys: 100, secrets: 1000 };
const defaultRoom: RoomLimits = { sandboxes: 100, storageBytes: 100 * 1024 ** 3 };
const maxSessions = 10_000;
const minuteMs = 60_000;
const approvalMs = 60 * minuteMs;
const sessionIdleMs = 7 * 24 * 60 * minuteMs;

/** Everything of a server that many accounts share. */
export async function createPlatform(options: PlatformOptions) {
  const { data, keys, provider, emit } = options;
  const providers = [traitsOf(provider)];
  const now = () => new Date();
  const { records, vault } = await openSealedRecords(options);
  const kept = createKeptWorkspaces(data);
  kept.sweepScratch(Date.now());
  const registryOn = (over: Records) =>
    withFiles(
      createRegistry({ records: over, vault, now, providers, quotas, storages: ['local', 's3'], opened: ['local'] }),
      kept,
    );
  const registry = registryOn(records);
  const room = createAccountRoom({
    limits: { ...defaultRoom, ...options.room },
    measure: async (accountId) => kept.measure(await workspaceIdsOf(records, accountId).then(toNamespaces(accountId))),
    now: Date.now,
  });
  const onRequested = options.onApprovalRequested;
  const { approvals, desk } = createApprovals({
    ...{ records, vault, now, emit, ttlMs: approvalMs },
    ...(onRequested && { onRequested }),
  });
  const agents = createAgents({
    ...{ registry, records, approvals, kept, now, emit, maxSessions, tools: Object.values(tools) },
    ...{ limits: options.limits, sharesNetwork: options.sharesNetwork ?? false, room, furnish: options.furnish },
    providers: { [provider.name]: provider },
    effects: createEffects({ detectors: Object.values(detectors), formatOnEdit: options.formatOnEdit, emit }),
    sandboxIdleMs: 10 * minuteMs,
    sessionIdleMs,
    journalOf: (accountId, agentId) => createAuditJournal({ records, accountId, agentId, now }),
  });

  const sweeping = startSweeping({
    ...{ records, now, sessionIdleMs, closeStale: () => agents.closeStale(), closeGone: kept.closeGone },
    onFailure: options.onSweepFailure,
  });

  return {
    ...{ records, vault, registryOn, approvals, desk, agents },
    registry: withClosing(registry, agents),
    /** Signs what clients carry from one request to the next, on every server that has these keys. */
    requestKey: deriveKey(keys.pepper, 'croft requests'),

    /** What an account keeps outside the records. */
    async removeFiles(accountId: string, workspaceIds: readonly string[]): Promise<Record<string, number>> {
      await agents.closeOf(accountId);
      const removed = await Promise.all(toNamespaces(accountId)(workspaceIds).map(kept.remove));
      return { filesystemsDeleted: removed.filter(Boolean).length };
    },

    async stop(deadlineMs: number): Promise<void> {
      sweeping[Symbol.dispose]();
      await agents.stop(deadlineMs);
      kept.close();
      await records[Symbol.asyncDispose]();
    },
  };
}

/** A workspace goes with its files, once nothing refers to it any more. */
function withFiles(registry: Registry, kept: KeptWorkspaces): Registry {
  const { workspaces } = registry;
  return {
    ...registry,
    workspaces: {
      ...workspaces,
      async remove(actor, id, expect) {
        await workspaces.remove(actor, id, expect);
        await kept.remove(namespaceOf(actor.accountId, id));
      },
    },
  };
}

/** What an agent has running ends with it. */
function withClosing(registry: Registry, { closeOf, closeStale }: Pick<Agents, 'closeOf' | 'closeStale'>): Registry {
  const { agents, sandboxes, keys } = registry;
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
    keys: {
      ...keys,
      revoke: async (actor, keyId) => closing(actor, await keys.revoke(actor, keyId)),
      rotate: async (actor, keyId) => closing(actor, await keys.rotate(actor, keyId)),
    },
  };
}

async function workspaceIdsOf(records: Records, accountId: string): Promise<string[]> {
  const page = { limit: quotas.workspaces };
  const { rows } = await records.read(({ workspaces }) => workspaces.list(accountId, page));
  return rows.map(({ id }) => id);
}

function toNamespaces(accountId: string): (ids: readonly string[]) => string[] {
  return (ids) => ids.map((id) => namespaceOf(accountId, id));
}

/** Without isolation nothing can be kept from the network. */
function traitsOf({ name }: Provider): ProviderTraits {
  const networks = name === 'none' ? (['allow-all'] as const) : (['allow-all', 'deny-all', 'restricted'] as const);
  return { name, capabilities: { mounts: true, networks, persistent: true } };
}
