import type { ServerRow } from '../../core/accounts/ports/cluster-tables.ts';
import type { Records } from '../../core/accounts/ports/records.ts';

/** Version of what servers send each other. A server forwards to this version, the one before and the one after. */
export const protocol = 1;
/** A server without a beat for this long counts as dead: other servers may take over its leases. */
export const deadMs = 15_000;
/** A dead server is forgotten after this time. */
const forgetMs = 10 * 60_000;

interface KnownServersOptions {
  readonly records: Records;
  readonly now: () => Date;
  /** The id of this server. */
  readonly id: string;
}

/** The servers of a database as they were at the last refresh. Times are the database's. */
export function createKnownServers({ records, now, id }: KnownServersOptions) {
  let known: readonly ServerRow[] = [];
  const isLive = ({ beatAt }: ServerRow) => Date.parse(beatAt) > now().getTime() - deadMs;
  const others = () => known.filter((one) => one.id !== id && isLive(one) && Math.abs(one.protocol - protocol) <= 1);
  return {
    isLive,
    /** The other servers that are alive, and of a protocol that this one speaks. */
    others,
    find: (wanted: string): ServerRow | undefined => others().find((one) => one.id === wanted),
    countLive: (): number => Math.max(1, known.filter(isLive).length),
    async refresh(): Promise<void> {
      known = await records.glance(({ servers }) => servers.all());
    },
    async forgetDead(): Promise<void> {
      const gone = known.filter(({ beatAt }) => Date.parse(beatAt) < now().getTime() - forgetMs);
      for (const one of gone) await records.change(({ servers }) => servers.remove(one.id));
    },
  };
}
