import type { Records, Tables } from '../../core/accounts/ports/records.ts';
import type { Membership } from './membership.ts';

interface SandboxCountsOptions {
  readonly records: Records;
  readonly membership: Membership;
}

export type SandboxCounts = ReturnType<typeof createSandboxCounts>;

/** Counts the open sandboxes of accounts on all servers, so that a limit holds for all of them together. */
export function createSandboxCounts({ records, membership }: SandboxCountsOptions) {
  const open = new Map<string, number>();
  /** Closed sandboxes that are still counted in the records. */
  const unstored = new Map<string, number>();

  /**
   * The stored count of this server may change while this statement waits for the lock, so it is read inside the lock.
   */
  async function countOf({ sandboxCounts }: Tables, accountId: string) {
    const rows = await sandboxCounts.of(accountId);
    const own = rows.find(({ serverId }) => serverId === membership.id)?.open ?? 0;
    return { own, others: rows.filter(({ serverId }) => serverId !== membership.id) };
  }

  async function repay(accountId: string): Promise<void> {
    const count = unstored.get(accountId) ?? 0;
    if (count === 0) return;
    unstored.delete(accountId);
    try {
      await records.change(async (tables) => {
        const { own } = await countOf(tables, accountId);
        await tables.sandboxCounts.put({ accountId, serverId: membership.id, open: Math.max(0, own - count) });
      });
    } catch {
      add(unstored, accountId, count);
    }
  }

  return {
    isOpen: (accountId: string): boolean => (open.get(accountId) ?? 0) > 0,
    /** Counts one more, unless the account has `most` already. Returns whether it did. */
    async reserve(accountId: string, most: number): Promise<boolean> {
      await membership.started;
      const isReserved = await records.change(async (tables) => {
        const { own, others } = await countOf(tables, accountId);
        const live = new Set((await tables.servers.all()).filter(membership.isLive).map(({ id }) => id));
        const elsewhere = others.reduce((sum, row) => sum + (live.has(row.serverId) ? row.open : 0), 0);
        if (elsewhere + own + 1 > most) return false;
        await tables.sandboxCounts.put({ accountId, serverId: membership.id, open: own + 1 });
        return true;
      });
      if (isReserved) add(open, accountId, 1);
      return isReserved;
    },
    release(accountId: string): void {
      add(open, accountId, -1);
      add(unstored, accountId, 1);
      void repay(accountId);
    },
    /** Repeats the changes of counts that the database did not store. */
    repayAll: async (): Promise<void> => void (await Promise.all([...unstored.keys()].map(repay))),
  };
}

function add(counts: Map<string, number>, accountId: string, more: number): void {
  const count = (counts.get(accountId) ?? 0) + more;
  if (count > 0) counts.set(accountId, count);
  else counts.delete(accountId);
}
