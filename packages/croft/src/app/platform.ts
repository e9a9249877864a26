import { notFound } from '../core/accounts/access/registry-errors.ts';
import { createAuditJournal } from '../core/accounts/audit/audit-journal.ts';
import type { AuditVerdict } from '../core/accounts/audit/verify-audit.ts';
import { createBrowserSessions } from '../core/accounts/keys/browser-sessions.ts';
import type { Records } from '../core/accounts/ports/records.ts';
import type { AgentSurface } from '../core/accounts/surface/resolve-surface.ts';
import type { ApprovalsOptions } from '../core/approvals/create-approvals.ts';
import { createApprovals } from '../core/approvals/create-approvals.ts';
import { createPostEditChecks, type PostEditSettings } from '../core/checks/post-edit/post-edit-checks.ts';
import type { OpenSandboxes } from '../core/commands/open-sandboxes.ts';
import type { Provider, SandboxLimits } from '../core/commands/sandbox.ts';
import type { Emit } from '../core/events/emitter.ts';
import type { History } from '../core/history/ports/history.ts';
import { findCurrentConfig } from '../core/reservations/find-current-config.ts';
import type { TerminalOwner } from '../core/terminals/terminals.ts';
import * as detectors from '../detectors/index.ts';
import { deriveKey } from '../lib/crypto/keyring.ts';
import { namespaceOf } from '../storages/index.ts';
import * as tools from '../tools/index.ts';
import type { BucketOpenerOptions } from './accounts/bucket-opener.ts';
import type { ServerAddress } from './accounts/data-directory-binding.ts';
import { createAccountFilesRemoval } from './accounts/remove-account-files.ts';
import { createWorkspaceFileAccess, openFileAccess } from './accounts/workspace-file-access.ts';
import { type Agents, type AgentsOptions, createAgents } from './agents/agents.ts';
import type { RuntimeOptions } from './agents/runtime-options.ts';
import { createCluster } from './cluster/cluster.ts';
import type { HeldLease } from './cluster/leases.ts';
import { createRemoteSurfaces } from './fleet/remote-surface.ts';
import { createRunnerSocket, type RunnerSettings } from './fleet/runner-socket.ts';
import { createAccountForks } from './forks/account-forks.ts';
import { openTransactions } from './forks/open-transactions.ts';
import type { Overlays } from './forks/overlays.ts';
import { openPlatformParts, type PlatformParts } from './platform-parts.ts';
import type { SealedRecordsOptions } from './records/open-records.ts';
import { startRecordSweep } from './server/record-sweep.ts';
import { withRuntimeClosing } from './server/registry-hooks.ts';
import type { ServerBounds } from './server/server-bounds.ts';
import { startServerReadiness } from './server/start-server-readiness.ts';
import { createAccountTerminals } from './terminals/account-terminals.ts';
import type { WorkspaceIndexes } from './workspaces/code-indexes-of-workspaces.ts';
import { toHistoryForRest } from './workspaces/history-for-rest.ts';
import type { WorkspaceHistories } from './workspaces/workspace-histories.ts';

export interface PlatformOptions extends SealedRecordsOptions {
  /** The provider that accounts may choose. */
  readonly provider: Provider;
  /** Upper limits of every sandbox. */
  readonly limits: SandboxLimits;
  /** Whether sandboxes of accounts may reach everything this machine reaches. Default: only public addresses. */
  readonly sharesNetwork?: boolean | undefined;
  readonly bounds: ServerBounds;
  /** Whether the other servers of the same records may send requests here. A program without a port cannot take any. */
  readonly isReachable: boolean;
  readonly assembleWorkspace: RuntimeOptions['assembleWorkspace'];
  readonly openSearch: Parameters<typeof openFileAccess>[2];
  readonly renderDiagram: RuntimeOptions['renderDiagram'];
  readonly histories: WorkspaceHistories;
  readonly layered: Overlays;
  readonly openSandboxes: OpenSandboxes;
  /** Absent: searches for code read the files. */
  readonly codeIndexes?: WorkspaceIndexes | undefined;
  /** Default: only buckets of accounts, at public addresses. */
  readonly buckets?: Pick<BucketOpenerOptions, 'managed' | 'allowPrivate'> | undefined;
  /** The server's own skills, for all accounts. */
  readonly skills?: RuntimeOptions['skills'];
  readonly shelf: RuntimeOptions['shelf'];
  readonly editChecks: PostEditSettings;
  readonly emit: Emit;
  onSweepFailure(thrown: unknown): void;
  onWarning(message: string): void;
  readonly onApprovalRequested?: ApprovalsOptions['onRequested'];
}

export type ServerPlatform = Awaited<ReturnType<typeof createPlatform>>;

/** Composition root for the accounts of a server (`croft serve`): everything that accounts share. */
export async function createPlatform(options: PlatformOptions) {
  const { data, keys, emit, layered, bounds } = options;
  const parts = await openPlatformParts(options);
  const { now, records, vault, events, localWorkspaces, openedWorkspaces, registry, registryOn, fleet } = parts;
  const wakeUps = parts.joined?.wakeUps;
  const { approvals, approvalInbox, wake } = createApprovals({
    ...{ records, vault, now, emit, ttlMs: bounds.times.approvalMs, maxPending: bounds.account.waitingCalls },
    ...(wakeUps && { onDecided: wakeUps.approval }),
    ...(options.onApprovalRequested && { onRequested: options.onApprovalRequested }),
  });
  const forks = createAccountForks({ data, layered, ...parts });
  const runtimeOptions = toRuntimeOptions(options, parts, forks);
  const agents = createAgents({ ...runtimeOptions, approvals });
  const ticketKey = deriveKey(keys.pepper, 'croft terminals');
  const terminals = createAccountTerminals({ ...runtimeOptions, now: () => now().getTime(), ticketKey, bounds });
  const closeStale = async (accountId?: string) => {
    await Promise.all([agents.closeStale(accountId), terminals.closeStale(accountId)]);
    await parts.reservations.endStale((key) => findCurrentConfig(key, registry), accountId);
  };

  const cluster = openCluster(options, parts, { agents, terminals, wake, closeStale });

  const sweeping = startRecordSweep({
    ...{ records, now, ...bounds.times, closeGone: localWorkspaces.closeGone },
    // Runs both steps at once, because closing an account's runtimes may take long.
    closeStale: async () => void (await Promise.all([closeStale(), parts.refresh()])),
    onFailure: options.onSweepFailure,
  });

  const tellOthers = wakeUps?.account;
  const running = { ...agents, closeStale, reservations: parts.reservations, dropRunner: fleet.drop, tellOthers };
  const readiness = watchReadiness(options, records);
  const files = createFiles(options, parts);

  return {
    ...{ records, vault, registryOn, approvals, approvalInbox, agents, terminals, files, forks },
    ...{ readiness, now, events, sessions: createBrowserSessions({ records, vault, now }) },
    audit: createTrailCheck(parts),
    histories: createHistoryAccess(parts),
    registry: withRuntimeClosing(registry, running, [openedWorkspaces, parts.served]),
    ...{ fleet, cluster, openSandboxes: options.openSandboxes },
    /** The endpoint that runners connect to. */
    openRunners: (settings: RunnerSettings) =>
      createRunnerSocket({ fleet, now, authenticate: registry.runners.authenticate, ...settings }),
    /** Signs state that clients carry from one request to the next. It is the same on every server with these keys. */
    requestKey: deriveKey(keys.pepper, 'croft requests'),

    removeFiles: createAccountFilesRemoval({ ...parts, wakeUps, agents, terminals }),
    /** Stores the address of this server, which other servers name in errors. Call it when the server listens. */
    announce: async (own: ServerAddress) =>
      void (await Promise.all([parts.binding?.announce(own), cluster?.start(own)])),

    async stop(deadlineMs: number): Promise<void> {
      sweeping[Symbol.dispose]();
      readiness[Symbol.dispose]();
      parts.disk[Symbol.dispose]();
      files.feeds.close();
      await Promise.all([agents.stop(deadlineMs), terminals.close()]);
      await parts.reservations.close();
      await Promise.all([openedWorkspaces.close(), parts.late.flush()]);
      localWorkspaces.close();
      await cluster?.stop();
      await records[Symbol.asyncDispose]();
    },
  };
}

function createFiles({ keys, bounds, openSearch }: PlatformOptions, { registry, openedWorkspaces }: PlatformParts) {
  return createWorkspaceFileAccess({
    workspaces: registry.workspaces,
    open: async (record) => openFileAccess(record, openedWorkspaces, openSearch),
    linkKey: deriveKey(keys.pepper, 'croft links'),
    maxFeeds: bounds.account.watches,
  });
}

interface RunningParts {
  readonly agents: Agents;
  readonly terminals: ReturnType<typeof createAccountTerminals>;
  wake(approvalId: string): void;
  closeStale(accountId?: string): Promise<void>;
}

/** Ends everything that runs in a workspace, or for an agent, that another server has taken over. */
async function endLost(
  { subject }: HeldLease,
  { agents, terminals, reservations }: Pick<RunningParts, 'agents' | 'terminals'> & Pick<PlatformParts, 'reservations'>,
) {
  const { accountId, agentId, workspaceId } = subject;
  const reason = 'this server could not reach the database for too long, and another one has taken over';
  const isOver = (id: string, { workspaces }: AgentSurface) =>
    id === agentId || workspaces.some(({ record }) => record.id === workspaceId);
  const isOfIt = (owner: Pick<TerminalOwner, 'accountId' | 'workspaceId'>) =>
    owner.accountId === accountId && owner.workspaceId === workspaceId;
  await Promise.all([agents.closeOf(accountId, undefined, { isOver, reason }), terminals.endThose(isOfIt, reason)]);
  await reservations.endThose(isOfIt, reason);
}

/** Connects this server with the others on its database. Returns nothing on SQLite, which only one server can use. */
function openCluster(
  { keys, bounds }: PlatformOptions,
  { joined, records, now, fleet, registry, events, openedWorkspaces, accountQuota, reservations }: PlatformParts,
  { agents, terminals, wake, closeStale }: RunningParts,
) {
  if (!joined) return undefined;
  const closeWorkspace = async ({ subject: { accountId, workspaceId } }: HeldLease) =>
    workspaceId === undefined ? undefined : openedWorkspaces.release(namespaceOf(accountId, workspaceId));
  return createCluster({
    ...{ ...joined, records, now, fleet, registry, openAgent: agents.openSurface, closeWorkspace },
    forwardKey: deriveKey(keys.pepper, 'croft servers'),
    idleMs: bounds.times.sandboxIdleMs,
    onlyReads: (name) => Object.values(tools).some((tool) => tool.name === name && tool.access === 'read'),
    async endLost(lease) {
      await endLost(lease, { agents, terminals, reservations });
      await closeWorkspace(lease);
    },
    suspendAll: accountQuota.suspendAll,
    onEvents: events.wake,
    onApproval: wake,
    onAccount: (accountId) => Promise.all([closeStale(accountId), fleet.dropRevoked(registry.runners.list, accountId)]),
  });
}

function createTrailCheck({ trail, records }: Pick<PlatformParts, 'trail' | 'records'>) {
  let checking: Promise<AuditVerdict> | undefined;
  return {
    verify: () => trail.verify(records),
    /** Callers that ask during a check share it, because a check reads every row of every account. */
    verifyShared(): Promise<AuditVerdict> {
      checking ??= trail.verify(records).finally(() => {
        checking = undefined;
      });
      return checking;
    },
    head: trail.head,
  };
}

function createHistoryAccess({ registry, openedWorkspaces }: Pick<PlatformParts, 'registry' | 'openedWorkspaces'>) {
  return {
    /** Throws `E_NOT_FOUND`. Returns nothing if the workspace has no history. */
    async of(accountId: string, workspaceId: string): Promise<History | undefined> {
      const record = await registry.workspaces.open(accountId, workspaceId);
      if (!record) throw notFound('Workspace');
      return toHistoryForRest(openedWorkspaces.of(record));
    },
  };
}

function watchReadiness({ data, buckets, bounds, emit, onWarning }: PlatformOptions, records: Records) {
  const { minFreeBytes } = bounds;
  return startServerReadiness({ data, records, minFreeBytes, managed: buckets?.managed, emit, onWarning });
}

type Forks = ReturnType<typeof createAccountForks>;

/** Options that the runtimes of agents and the terminals of people share. */
function toRuntimeOptions(options: PlatformOptions, parts: PlatformParts, forks: Forks) {
  const { provider, emit, layered, onWarning, bounds } = options;
  const { sandboxIdleMs, sessionIdleMs } = bounds.times;
  const maxSessions = bounds.account.sessions;
  const {
    now,
    records,
    vault,
    events,
    localWorkspaces,
    openedWorkspaces,
    registry,
    reservations,
    accountQuota,
    serverId,
    late,
  } = parts;
  return {
    remote: createRemoteSurfaces({ ...parts, workspaces: registry.workspaces, fleetWorkspaces: parts.remote }),
    ...{
      registry,
      records,
      localWorkspaces,
      openedWorkspaces,
      reservations,
      now,
      emit,
      onWarning,
      maxSessions,
      serverId,
      tools: Object.values(tools),
    },
    openTransactions: (workspace) => openTransactions(layered, workspace),
    openForks: (record, agentId) => forks.ofAgent(record, agentId),
    ...{
      limits: options.limits,
      minFreeBytes: bounds.minFreeBytes,
      sharesNetwork: options.sharesNetwork ?? false,
      accountQuota,
      openSandboxes: options.openSandboxes,
      assembleWorkspace: options.assembleWorkspace,
      renderDiagram: options.renderDiagram,
      skills: options.skills,
      allowControl: options.histories.allowControl,
    },
    providers: { [provider.name]: provider },
    effects: createPostEditChecks({ ...options.editChecks, detectors: Object.values(detectors), emit }),
    shelf: options.shelf,
    ...{ sandboxIdleMs, sessionIdleMs },
    journalOf: (accountId, agentId) =>
      createAuditJournal({
        ...{ records, vault, accountId, agentId, serverId, pendingEnds: late, now },
        onStarted: (event) => events.publish(accountId, event),
      }),
  } satisfies Omit<AgentsOptions, 'approvals'> & Pick<PlatformOptions, 'onWarning'>;
}
