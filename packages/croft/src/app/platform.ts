import { createAuditJournal } from '../core/accounts/audit-journal.ts';
import type { Quotas } from '../core/accounts/context.ts';
import { createRegistry } from '../core/accounts/create-registry.ts';
import type { ProviderTraits } from '../core/accounts/provider-traits.ts';
import type { Records } from '../core/accounts/records.ts';
import { notFound } from '../core/accounts/refusals.ts';
import type { ApprovalsOptions } from '../core/approvals/create-approvals.ts';
import { createApprovals } from '../core/approvals/create-approvals.ts';
import { createEffects } from '../core/checks/effects.ts';
import type { Provider, SandboxLimits } from '../core/commands/sandbox.ts';
import type { Emit } from '../core/events.ts';
import type { History } from '../core/history/history.ts';
import * as detectors from '../detectors/index.ts';
import { deriveKey } from '../lib/crypto/keyring.ts';
import { createRemoteWorkspace, removeRemoteWorkspace } from '../providers/index.ts';
import { createKeptWorkspaces, namespaceOf } from '../storages/index.ts';
import * as tools from '../tools/index.ts';
import { createAccountForks } from './account-forks.ts';
import { createAccountRoom, type RoomLimits } from './account-room.ts';
import { type AgentsOptions, createAgents } from './agents.ts';
import { type BucketsOptions, createBuckets } from './buckets.ts';
import type { Histories } from './histories.ts';
import { type Layered, openTransactions, toKeptForks } from './layered.ts';
import { dropBases } from './local-forks.ts';
import { openPlaces } from './open-places.ts';
import { openSealedRecords, type SealedOptions } from './open-records.ts';
import { toPlaceHistory } from './place-history.ts';
import type { WorkspaceRecord } from './places.ts';
import { withClosing, withFiles } from './registry-hooks.ts';
import { createRemoval } from './remove-workspace.ts';
import { createFleet } from './runners/fleet.ts';
import { createFleetPlaces } from './runners/fleet-places.ts';
import { createOwedRemovals } from './runners/owed-removals.ts';
import { createPayments } from './runners/pay-removals.ts';
import { createRemoteSurfaces } from './runners/remote-surface.ts';
import { createRemovalThere } from './runners/remove-there.ts';
import { createRunnerSocket, type RunnerSettings } from './runners/runner-socket.ts';
import { createServedBuckets } from './runners/served-buckets.ts';
import type { RuntimeMeans } from './runtime-means.ts';
import { startSweeping } from './sweep.ts';
import { createTerminalDesk } from './terminals.ts';
import { createWorkspaceDoors, openDoor } from './workspace-doors.ts';

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
  readonly histories: Histories;
  readonly layered: Layered;
  /** Left out: only buckets of accounts, at public addresses. */
  readonly buckets?: Pick<BucketsOptions, 'managed' | 'allowPrivate'> | undefined;
  /** Of the server, for all accounts. */
  readonly skills?: RuntimeMeans['skills'];
  readonly formatOnEdit: boolean;
  readonly emit: Emit;
  onSweepFailure(thrown: unknown): void;
  onWarning(message: string): void;
  readonly onApprovalRequested?: ApprovalsOptions['onRequested'];
}

export type Platform = Awaited<ReturnType<typeof createPlatform>>;

const quotas: Quotas = { agents: 1000, sandboxes: 1000, workspaces: 1000, keys: 100, runners: 100, secrets: 1000 };
const defaultRoom: RoomLimits = { sandboxes: 100, storageBytes: 100 * 1024 ** 3 };
const maxSessions = 10_000;
const minuteMs = 60_000;
const approvalMs = 60 * minuteMs;
const sessionIdleMs = 7 * 24 * 60 * minuteMs;
/** A machine may be away for a season. */
const removalMs = 90 * 24 * 60 * minuteMs;

/** Everything of a server that many accounts share. */
export async function createPlatform(options: PlatformOptions) {
  const { data, keys, emit, layered } = options;
  const ground = await openGround(options);
  const { now, records, vault, kept, places, removeWorkspace, registry, registryOn, room } = ground;
  const onRequested = options.onApprovalRequested;
  const { approvals, desk } = createApprovals({
    ...{ records, vault, now, emit, ttlMs: approvalMs },
    ...(onRequested && { onRequested }),
  });
  const forks = createAccountForks({ data, layered, ...ground });
  const { fleet } = ground;
  const means = toMeans(options, ground, forks);
  const agents = createAgents({ ...means, approvals });
  const ticketKey = deriveKey(keys.pepper, 'croft terminals');
  const terminals = createTerminalDesk({ ...means, now: () => now().getTime(), ticketKey });
  const closeStale = async (accountId?: string) => {
    await Promise.all([agents.closeStale(accountId), terminals.closeStale(accountId)]);
  };

  const sweeping = startSweeping({
    ...{ records, now, sessionIdleMs, removalMs, closeGone: kept.closeGone },
    async closeStale() {
      // Neither waits for the other: what somebody else has open may take long to close.
      await Promise.all([closeStale(), fleet.dropRevoked(registry.runners.list), ground.payments.look()]);
    },
    onFailure: options.onSweepFailure,
  });

  const files = createWorkspaceDoors({
    workspaces: registry.workspaces,
    open: async (record) => openDoor(record, { places, room }),
    linkKey: deriveKey(keys.pepper, 'croft links'),
  });

  return {
    ...{ records, vault, registryOn, approvals, desk, agents, terminals, files, forks },
    histories: {
      /** Throws `E_NOT_FOUND`. Nothing where none is kept. */
      async of(accountId: string, workspaceId: string): Promise<History | undefined> {
        const record = await registry.workspaces.open(accountId, workspaceId);
        if (!record) throw notFound('Workspace');
        return toPlaceHistory(places.of(record));
      },
    },
    registry: withClosing(registry, { ...agents, closeStale, dropRunner: fleet.drop }, [places, ground.served]),
    fleet,
    /** Where runners connect to. */
    openRunners: (settings: RunnerSettings) =>
      createRunnerSocket({ fleet, now, authenticate: registry.runners.authenticate, ...settings }),
    /** Signs what clients carry from one request to the next, on every server that has these keys. */
    requestKey: deriveKey(keys.pepper, 'croft requests'),

    /** What an account keeps outside the records. */
    async removeFiles(accountId: string, workspaceIds: readonly string[]): Promise<Record<string, number>> {
      await Promise.all([agents.closeOf(accountId), terminals.endOf(accountId)]);
      const found = await Promise.all(workspaceIds.map((id) => registry.workspaces.open(accountId, id)));
      const removing = found.map(async (record) => record !== undefined && removeWorkspace(record));
      // Runners are there until what they have is gone.
      const removed = await Promise.all(removing).finally(() => fleet.dropAll(accountId));
      return { filesystemsDeleted: removed.filter(Boolean).length };
    },

    async stop(deadlineMs: number): Promise<void> {
      sweeping[Symbol.dispose]();
      files.feeds.close();
      await Promise.all([agents.stop(deadlineMs), terminals.close()]);
      await places.close();
      kept.close();
      await records[Symbol.asyncDispose]();
    },
  };
}

type Ground = Awaited<ReturnType<typeof openGround>>;
type Forks = ReturnType<typeof createAccountForks>;

/** What agents and people are given sandboxes with. */
function toMeans(options: PlatformOptions, ground: Ground, forks: Forks): Omit<AgentsOptions, 'approvals'> {
  const { provider, emit, layered } = options;
  const { now, records, kept, places, registry, room } = ground;
  return {
    remote: createRemoteSurfaces({ ...ground, workspaces: registry.workspaces, places: ground.remote }),
    ...{ registry, records, kept, places, now, emit, maxSessions, tools: Object.values(tools) },
    openTransactions: (place) => openTransactions(layered, place),
    openForks: (record, agentId) => forks.ofAgent(record, agentId),
    ...{
      limits: options.limits,
      sharesNetwork: options.sharesNetwork ?? false,
      room,
      furnish: options.furnish,
      skills: options.skills,
    },
    providers: { [provider.name]: provider },
    effects: createEffects({ detectors: Object.values(detectors), formatOnEdit: options.formatOnEdit, emit }),
    sandboxIdleMs: 10 * minuteMs,
    sessionIdleMs,
    journalOf: (accountId, agentId) => createAuditJournal({ records, accountId, agentId, now }),
  };
}

/** What is kept, and where: records, files and what they were. */
async function openGround(options: PlatformOptions) {
  const { data, provider } = options;
  const providers = [traitsOf(provider), onRunners];
  const now = () => new Date();
  const { records, vault } = await openSealedRecords(options);
  const { histories, layered, buckets = { allowPrivate: false } } = options;
  const kept = createKeptWorkspaces(data, toKeptForks(layered));
  kept.sweepScratch(Date.now());
  const openObjects = createBuckets({ ...buckets, secretsOf: (accountId) => registry.secrets.openAll(accountId) });
  const { emit, onWarning } = options;
  const fleet = createFleet({ now, emit });
  const served = createServedBuckets({ openObjects });
  const remote = createFleetPlaces({
    fleet,
    buckets: served,
    openWorkspace: createRemoteWorkspace,
    removeWorkspace: removeRemoteWorkspace,
  });
  const places = openPlaces({ data, kept, histories, openObjects, remote, emit, onWarning });
  const owed = createOwedRemovals({ records, keptMs: removalMs, emit, onWarning });
  const payments = createPayments({ fleet, remote, owed, onFailure: options.onSweepFailure });
  const removeWorkspace = createRemoval({
    ...{ places, kept, openObjects, served, dropBases: (key) => dropBases(layered, key) },
    removeThere: createRemovalThere({ fleet, remote, owed }),
  });
  const remove = (record: WorkspaceRecord) =>
    removeWorkspace(record).catch((thrown) =>
      options.onWarning(`the files of workspace ${record.id} are still where they were: ${thrown}`),
    );
  const storages = ['local', 's3'];
  const registryOn = (over: Records) =>
    withFiles(createRegistry({ records: over, vault, now, providers, quotas, storages, opened: storages }), remove);
  const registry = registryOn(records);
  const room = createAccountRoom({
    limits: { ...defaultRoom, ...options.room },
    measure: async (accountId) => kept.measure(await workspaceIdsOf(records, accountId).then(toNamespaces(accountId))),
    now: Date.now,
  });
  const hasFiles = ({ accountId, id }: WorkspaceRecord) => kept.hasFiles(namespaceOf(accountId, id));
  return {
    ...{ now, records, vault, kept, fleet, remote, served, hasFiles, places },
    ...{ payments, openObjects, removeWorkspace, registry, registryOn, room },
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

/** What a runner can do is its own to say, when it is asked. */
const onRunners: ProviderTraits = {
  name: 'remote',
  capabilities: { mounts: true, networks: ['allow-all', 'deny-all', 'restricted'], persistent: true },
};

/** Without isolation nothing can be kept from the network. */
function traitsOf({ name }: Provider): ProviderTraits {
  const networks = name === 'none' ? (['allow-all'] as const) : (['allow-all', 'deny-all', 'restricted'] as const);
  return { name, capabilities: { mounts: true, networks, persistent: true } };
}
