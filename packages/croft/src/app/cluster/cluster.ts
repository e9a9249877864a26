import type { Records } from '../../core/accounts/ports/records.ts';
import type { Registry, RunnerToken } from '../../core/accounts/ports/registry.ts';
import type { RunnerView } from '../../core/runners/runner.ts';
import type { ServerAddress } from '../accounts/data-directory-binding.ts';
import type { OpenAgent } from '../agents/open-agent.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { createHolderFinder } from './find-holder.ts';
import { createLeases, type HeldLease } from './leases.ts';
import type { Membership } from './membership.ts';
import { createRunnerLinks } from './runner-links.ts';
import type { SandboxCounts } from './sandbox-counts.ts';
import type { WakeUps } from './wake-ups.ts';

interface ClusterOptions {
  readonly records: Records;
  readonly now: () => Date;
  readonly membership: Membership;
  readonly counts: SandboxCounts;
  readonly wakeUps: WakeUps;
  readonly directory: string;
  readonly fleet: Pick<Fleet, 'view' | 'onOnline' | 'linkOf' | 'candidates'>;
  readonly registry: Registry;
  readonly openAgent: OpenAgent;
  readonly idleMs: number;
  /** Whether a call of this tool changes nothing. */
  onlyReads(tool: string): boolean;
  /** Signs requests that servers forward. The same on every server. */
  readonly forwardKey: Buffer;
  /** Stores the state of an open workspace and closes it. */
  closeWorkspace(lease: HeldLease): Promise<void>;
  /** Ends everything that runs for a lease that another server has taken. */
  endLost(lease: HeldLease): Promise<void>;
  /** Stops all programs of accounts until the returned function is called. */
  suspendAll(): () => void;
  readonly onEvents: () => void;
  onApproval(approvalId: string): void;
  /** Ends sessions and sandboxes of an account that its records no longer allow. */
  onAccount(accountId: string): Promise<unknown>;
}

export type Cluster = ReturnType<typeof createCluster>;

/** Several servers on one database: who is alive, who serves what, and what each tells the others. */
export function createCluster(options: ClusterOptions) {
  const { records, now, membership, counts, wakeUps, fleet, idleMs, forwardKey } = options;
  const leases = createLeases({
    ...{ records, now, membership, idleMs },
    isBusy: ({ subject }) => counts.isOpen(subject.accountId),
    close: options.closeWorkspace,
    onLost: options.endLost,
  });
  const runnerLinks = createRunnerLinks({ records, now, membership, fleet });
  const finder = createHolderFinder({ ...options, leases, runnerLinks });
  let resume = () => {};
  const hooks = {
    async onBeat(wasCutOff: boolean) {
      // Work that another server has taken over ends here before anything else goes on.
      if (wasCutOff) await leases.verify();
      resume();
      resume = () => {};
      await Promise.all([runnerLinks.check(), counts.repayAll()]);
    },
    onCutOff() {
      resume = options.suspendAll();
    },
  };

  return {
    ...{ id: membership.id, forwardKey, now, ...finder },
    isCutOff: membership.isCutOff,
    isReachable: (serverId: string) => membership.find(serverId) !== undefined,
    use: leases.use,
    onlyReads: options.onlyReads,
    /** The part of a limit that this server may give, so that all servers together give no more. */
    shareOf: (limit: number) => Math.ceil(limit / membership.countLive()),

    async viewRunners(tokens: readonly RunnerToken[]): Promise<RunnerView[]> {
      const own = tokens.map(fleet.view);
      const [first] = tokens;
      if (!first || own.every(({ state }) => state !== 'offline')) return own;
      const views = await runnerLinks.views(first.accountId);
      const elsewhere = new Map(views.map(({ view }) => [view.name, view]));
      return own.map((view) => (view.state === 'offline' ? { ...view, ...elsewhere.get(view.name) } : view));
    },

    async start(address: ServerAddress): Promise<void> {
      await membership.start(address, hooks);
      await wakeUps.listen({
        onEvents: options.onEvents,
        onApproval: options.onApproval,
        onAccount: (accountId) => void options.onAccount(accountId).catch(() => {}),
        onRunner: () => void runnerLinks.check().catch(() => {}),
        onServer: () => void membership.refresh().catch(() => {}),
      });
      wakeUps.server();
    },
    async stop(): Promise<void> {
      leases.stop();
      await membership.stop();
    },
  };
}
