import type { LeaseRow } from '../../core/accounts/ports/cluster-tables.ts';
import type { Records } from '../../core/accounts/ports/records.ts';
import { BoundedMap } from '../../lib/bounded-map.ts';
import { createKeyedLock } from '../../lib/concurrency/keyed-lock.ts';
import type { Holding } from './holding-server.ts';
import type { Membership } from './membership.ts';
import { takeLeaseIfFree } from './take-lease-if-free.ts';

interface LeasesOptions {
  readonly records: Records;
  readonly now: () => Date;
  readonly membership: Membership;
  /** A lease that nobody used for this long is given up. */
  readonly idleMs: number;
  /** Whether something runs for the lease although no request does. */
  isBusy(lease: HeldLease): boolean;
  /** Closes the workspace or agent of a lease, before another server may take the lease. */
  close(lease: HeldLease): Promise<void>;
  /** Another server has taken the lease: ends everything that runs for it. */
  onLost(lease: HeldLease): Promise<void>;
}

/** The subject of a lease: a workspace, or an agent without a workspace. */
export interface LeaseSubject {
  readonly accountId: string;
  readonly agentId?: string | undefined;
  readonly workspaceId?: string | undefined;
}

export interface HeldLease {
  readonly subject: LeaseSubject;
  readonly row: LeaseRow;
  /** Requests in progress. */
  inUse: number;
  usedAt: number;
}

const maxElsewhere = 10_000;
const sweepMs = 15_000;

export type Leases = ReturnType<typeof createLeases>;

/** Decides which server serves a workspace of a bucket: the first that opens it, until it is idle or dead. */
export function createLeases(options: LeasesOptions) {
  const { records, membership, onLost } = options;
  const held = new Map<string, HeldLease>();
  const elsewhere = new BoundedMap<string, LeaseRow>(maxElsewhere);
  const alone = createKeyedLock();
  const timer = setInterval(() => void releaseIdle(options, held, alone).catch(() => {}), sweepMs).unref();

  return {
    /**
     * Returns the holder of the lease, and takes the lease if it is free. `isFresh`: asks the database, and not an
     * earlier answer.
     */
    async holder(subject: LeaseSubject, isFresh: boolean): Promise<Holding> {
      const key = toLeaseKey(subject);
      const own = held.get(key);
      if (own) return toHolding(membership, own.row);
      const known = isFresh ? undefined : elsewhere.get(key);
      if (known && membership.find(known.serverId)) return toHolding(membership, known);
      return toHolding(membership, await alone.run(key, () => take(key, subject)));
    },
    /** Keeps the lease until the returned function is called. */
    use(key: string): () => void {
      const lease = held.get(key);
      if (!lease) return () => {};
      const count = (more: number) => {
        lease.inUse += more;
        lease.usedAt = performance.now();
      };
      count(1);
      return () => count(-1);
    },
    /** Finds out which leases other servers have taken while this one was cut off. */
    async verify(): Promise<void> {
      if (held.size === 0) return;
      const rows = await records.read(({ leases }) => leases.of(membership.id));
      const epochs = new Map(rows.map(({ key, epoch }) => [key, epoch]));
      const lost = [...held.values()].filter(({ row }) => epochs.get(row.key) !== row.epoch);
      for (const { row } of lost) held.delete(row.key);
      await Promise.allSettled(lost.map(onLost));
    },
    stop: () => clearInterval(timer),
  };

  async function take(key: string, subject: LeaseSubject): Promise<LeaseRow> {
    const own = held.get(key);
    if (own) return own.row;
    await membership.started;
    // Requests that wait for a dead server look again and again, which takes no lock.
    const seen = await records.glance(({ leases }) => leases.get(key));
    const isTaken = seen !== undefined && membership.find(seen.serverId) !== undefined;
    const row = isTaken ? seen : await records.change((tables) => takeLeaseIfFree(tables, key, options));
    if (row.serverId === membership.id) held.set(key, { subject, row, inUse: 0, usedAt: performance.now() });
    else elsewhere.set(key, row);
    if (row.serverId !== membership.id && !membership.find(row.serverId)) await membership.refresh();
    return row;
  }
}

type KeyedLock = ReturnType<typeof createKeyedLock>;

/** Closes first and gives up then, so that no two servers have a workspace open. */
async function releaseIdle(options: LeasesOptions, held: Map<string, HeldLease>, alone: KeyedLock): Promise<void> {
  const before = performance.now() - options.idleMs;
  const isIdle = (lease: HeldLease) => lease.inUse === 0 && lease.usedAt < before && !options.isBusy(lease);
  for (const lease of [...held.values()].filter(isIdle))
    await alone.run(lease.row.key, async () => {
      if (!isIdle(lease) || held.get(lease.row.key) !== lease) return;
      held.delete(lease.row.key);
      await options.close(lease);
      await options.records.change(({ leases }) => leases.remove(lease.row));
    });
}

function toHolding(membership: Membership, { key, serverId, epoch }: LeaseRow): Holding {
  if (serverId === membership.id) return { kind: 'here', key, epoch };
  const server = membership.find(serverId);
  return server ? { kind: 'elsewhere', key, epoch, server } : { kind: 'unreachable', key, serverId };
}

/** An agent without a workspace that needs a server has a lease of its own. */
function toLeaseKey({ accountId, agentId, workspaceId }: LeaseSubject): string {
  return `${accountId}/${workspaceId ?? agentId}`;
}
