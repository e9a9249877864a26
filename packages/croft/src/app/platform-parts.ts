import { createAccountEvents } from '../core/account-events/account-events.ts';
import { createRecordsSource } from '../core/accounts/audit/audit-source.ts';
import { closeInterruptedCalls, createPendingCallEnds } from '../core/accounts/audit/pending-call-ends.ts';
import { createRegistry } from '../core/accounts/lifecycle/create-registry.ts';
import type { ProviderTraits } from '../core/accounts/ports/provider-traits.ts';
import { readEveryPage } from '../core/accounts/ports/read-every-page.ts';
import type { Records } from '../core/accounts/ports/records.ts';
import type { Provider } from '../core/commands/sandbox.ts';
import { createReservations } from '../core/reservations/reservations.ts';
import { createRemoteWorkspace, removeRemoteWorkspace } from '../providers/index.ts';
import { createDataDirectory, namespaceOf, readDataDirectoryId } from '../storages/index.ts';
import * as tools from '../tools/index.ts';
import { createAccountMeter } from './accounts/account-meter.ts';
import { createAccountQuota } from './accounts/account-quota.ts';
import { openAccountWorkspaces } from './accounts/account-workspaces.ts';
import { createBucketOpener, watchBuckets } from './accounts/bucket-opener.ts';
import { createDataDirectoryBinding } from './accounts/data-directory-binding.ts';
import { createWorkspaceRemoval } from './accounts/remove-workspace.ts';
import { createMembership } from './cluster/membership.ts';
import { createSandboxCounts } from './cluster/sandbox-counts.ts';
import { createWakeUps } from './cluster/wake-ups.ts';
import { createFleet } from './fleet/fleet.ts';
import { createFleetWorkspaces } from './fleet/fleet-workspaces.ts';
import { createPendingRemovals } from './fleet/pending-removals.ts';
import { createRunnerRemoval } from './fleet/remove-from-runner.ts';
import { createRemovalRetries } from './fleet/retry-removals.ts';
import { createServedBuckets } from './fleet/served-buckets.ts';
import { removeUnusedBases } from './forks/local-forks.ts';
import { toLocalForks } from './forks/overlays.ts';
import type { PlatformOptions } from './platform.ts';
import { openSealedRecords } from './records/open-records.ts';
import { openFreeDiskGuard, toRecordsReserve } from './server/open-free-disk-guard.ts';
import { withFileRemoval } from './server/registry-hooks.ts';
import { readServerId } from './server/server-id.ts';
import type { WorkspaceRecord } from './workspaces/opened-workspaces.ts';

const maxSkewSeconds = 5;

export type PlatformParts = Awaited<ReturnType<typeof openPlatformParts>>;

/**
 * Opens the records and the clock that all servers of the database share, and ends the calls of this server that a
 * crash cut off.
 */
async function openBase(options: PlatformOptions) {
  const { data, bounds, onWarning } = options;
  let wake = () => {};
  let tellOthers = () => {};
  const reservedBytes = toRecordsReserve(bounds.minFreeBytes);
  const sealed = await openSealedRecords({
    ...options,
    reservedBytes,
    onAuditRows: () => [wake, tellOthers].forEach((tell) => void tell()),
  });
  const { records, trail } = sealed;
  const { now = () => new Date() } = records.clock ?? {};
  const events = openAccountEvents(sealed, now);
  wake = events.wake;
  warnAboutClockSkew(now(), onWarning);
  await trail.checkHead(records);
  const binding = await openBinding(options, records, now);
  const joined = binding && options.isReachable ? joinServers(records, now, binding.id, onWarning) : undefined;
  if (joined) tellOthers = joined.wakeUps.events;
  const serverId = readServerId(data);
  await closeInterruptedCalls(records, serverId, now);
  const late = createPendingCallEnds({ records, onWarning });
  return { ...sealed, now, serverId, late, events, binding, joined };
}

/** Makes the parts that several servers on one database need first. Nothing is stored until this server listens. */
function joinServers(records: Records, now: () => Date, directory: string, onWarning: (message: string) => void) {
  const membership = createMembership({ records, now, directory, onWarning });
  return {
    ...{ membership, directory },
    counts: createSandboxCounts({ records, membership }),
    wakeUps: createWakeUps(records, { isAlone: () => membership.countLive() === 1, onWarning }),
  };
}

/** Only one server can use a SQLite file, and so only one has its workspaces. */
async function openBinding({ data, onWarning }: PlatformOptions, records: Records, now: () => Date) {
  if (!records.isShared) return undefined;
  const binding = createDataDirectoryBinding({ id: readDataDirectoryId(data), records, now, onWarning });
  await binding.refresh();
  return binding;
}

function openAccountEvents(
  { records, vault }: Parameters<typeof createRecordsSource>[0] & { readonly records: Records },
  now: () => Date,
) {
  return createAccountEvents({
    now,
    sourcesOf: (accountId) => [createRecordsSource({ records, vault }, accountId)],
    newest: async () => (await records.glance(({ audit }) => audit.last()))?.rows ?? 0,
  });
}

/** Opens the records, the workspaces, the runners and their removal. */
export async function openPlatformParts(options: PlatformOptions) {
  const base = await openBase(options);
  const { records, vault, trail, ring, now, binding } = base;
  const { layered, emit, onWarning, bounds } = options;
  const secretsOf = (accountId: string) => registry.secrets.openAll(accountId);
  const storage = openStorageParts(options, { ...base, secretsOf });
  const { localWorkspaces, openObjects, fleet, served, remote, reservations, openedWorkspaces } = storage;
  const pendingRemovals = createPendingRemovals({ records, retryMs: bounds.times.removalMs, emit, onWarning });
  const removals = { fleet, remote, pending: pendingRemovals };
  const removalRetries = createRemovalRetries({ ...removals, onFailure: options.onSweepFailure });
  const removal = createWorkspaceRemoval({
    ...{ openedWorkspaces, localWorkspaces, openObjects, served },
    directory: binding?.id,
    removeUnusedBases: (key) => removeUnusedBases(layered, key),
    removeFromRunners: createRunnerRemoval(removals),
  });
  const removeFiles = (record: WorkspaceRecord) =>
    removal
      .removeFiles(record)
      .catch((thrown) => onWarning(`the files of workspace ${record.id} were not removed: ${thrown}`));
  const providers = [traitsOf(options.provider), onRunners];
  const storages = ['local', 's3'];
  const quotas = { ...bounds.account, sandboxes: bounds.account.definedSandboxes };
  const toolNames = Object.values(tools).map(({ name }) => name);
  const shared = { vault, now, providers, quotas, storages, opened: storages, toolNames, directory: binding?.id };
  // Several servers store workspaces in the bucket by default, because each of them can open that; a disk belongs to
  // one server.
  const hasBucket = options.buckets?.managed !== undefined;
  const isOneOfSeveral = () => (base.joined?.membership.countLive() ?? 1) > 1;
  const defaultStorage = () => (hasBucket && isOneOfSeveral() ? ('s3' as const) : ('local' as const));
  const registryOn = (over: Records) =>
    withFileRemoval(createRegistry({ ...shared, defaultStorage, records: over }), {
      endSandboxes: ({ accountId, id }) => reservations.forget(accountId, { workspaceId: id }),
      removeObjects: removal.removeObjects,
      removeFiles,
    });
  const registry = registryOn(records);
  const hasFiles = ({ accountId, id }: WorkspaceRecord) => localWorkspaces.hasFiles(namespaceOf(accountId, id));
  const removeOrphaned = async () =>
    binding?.removeOrphaned(({ accountId, workspaceId: id }) => removal.removeOrphaned({ accountId, id }));
  void removeOrphaned().catch(options.onSweepFailure);
  /** Picks up what other servers changed. */
  const refresh = () => {
    ring.refresh();
    return Promise.all([
      records.clock?.measure(),
      fleet.dropRevoked(registry.runners.list),
      removalRetries.retryAll(),
      trail.checkHead(records),
      binding?.refresh(),
      removeOrphaned(),
    ]);
  };
  return { ...base, ...storage, refresh, hasFiles, removal, registry, registryOn };
}

interface StorageDependencies
  extends Pick<Awaited<ReturnType<typeof openBase>>, 'records' | 'now' | 'binding' | 'joined'> {
  secretsOf(accountId: string): Promise<ReadonlyMap<string, string>>;
}

/** Opens what keeps the files of accounts: the data directory, their buckets, and runners. */
function openStorageParts(options: PlatformOptions, { records, now, binding, joined, secretsOf }: StorageDependencies) {
  const { data, histories, layered, buckets = { allowPrivate: false }, bounds, emit, onWarning } = options;
  const localWorkspaces = createDataDirectory(data, toLocalForks(layered));
  localWorkspaces.sweepScratch(Date.now());
  const openObjects = createBucketOpener({ ...buckets, breakers: watchBuckets(emit, onWarning), secretsOf });
  const fleet = createFleet({ now, emit, onWarning });
  const served = createServedBuckets({ openObjects });
  const remote = createFleetWorkspaces({
    ...{ fleet, buckets: served },
    openWorkspace: createRemoteWorkspace,
    removeWorkspace: removeRemoteWorkspace,
  });
  const workspacesOf = (accountId: string) => workspaceIdsOf(records, accountId);
  const reservations = createReservations({ records, now, emit, onWarning });
  const accountQuota = createAccountQuota({
    limits: bounds.account,
    measure: createAccountMeter({ data, localWorkspaces, histories, layered, workspacesOf }),
    now: Date.now,
    counts: joined?.counts,
    makePlace: reservations.endLongestSuspended,
  });
  const disk = openFreeDiskGuard({ data, minFreeBytes: bounds.minFreeBytes, onWarning });
  const openedWorkspaces = openAccountWorkspaces({
    ...{ data, localWorkspaces, histories, openObjects, accountQuota, disk, remote, emit, onWarning },
    codeIndexes: options.codeIndexes,
    binding,
  });
  return { localWorkspaces, openObjects, fleet, served, remote, reservations, accountQuota, disk, openedWorkspaces };
}

/** Servers compare times of the database, so a wrong local clock only causes a warning. */
function warnAboutClockSkew(time: Date, onWarning: (message: string) => void): void {
  const seconds = Math.round((Date.now() - time.getTime()) / 1000);
  if (Math.abs(seconds) < maxSkewSeconds) return;
  const side = seconds > 0 ? 'ahead of' : 'behind';
  onWarning(
    `the clock of this machine is ${Math.abs(seconds)} s ${side} that of the database; Croft uses the time of the database. Set the clock`,
  );
}

async function workspaceIdsOf(records: Records, accountId: string): Promise<string[]> {
  const rows = await records.read(({ workspaces }) => readEveryPage((page) => workspaces.list(accountId, page)));
  return rows.map(({ id }) => id);
}

/** For sandboxes on runners: the runner itself refuses a config that it does not support. */
const onRunners: ProviderTraits = {
  name: 'remote',
  capabilities: { mounts: true, networks: ['allow-all', 'deny-all', 'restricted'], persistent: true },
};

/** Without isolation, no command can be kept from the network. */
function traitsOf({ name }: Provider): ProviderTraits {
  const networks = name === 'none' ? (['allow-all'] as const) : (['allow-all', 'deny-all', 'restricted'] as const);
  return { name, capabilities: { mounts: true, networks, persistent: true } };
}
