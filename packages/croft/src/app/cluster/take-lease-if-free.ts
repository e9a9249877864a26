import type { LeaseRow } from '../../core/accounts/ports/cluster-tables.ts';
import type { Tables } from '../../core/accounts/ports/records.ts';
import type { Membership } from './membership.ts';

interface TakeOptions {
  readonly now: () => Date;
  readonly membership: Pick<Membership, 'id' | 'isLive' | 'mayTakeOver'>;
}

/** Takes a lease that nobody has, or whose server is dead. Returns the lease as it is then. */
export async function takeLeaseIfFree(
  { leases, servers }: Pick<Tables, 'leases' | 'servers'>,
  key: string,
  { now, membership }: TakeOptions,
): Promise<LeaseRow> {
  const known = await leases.get(key);
  if (known?.serverId === membership.id) return known;
  const server = known && (await servers.all()).find(({ id }) => id === known.serverId);
  if (known && server && (membership.isLive(server) || !membership.mayTakeOver())) return known;
  const row = { key, serverId: membership.id, epoch: Math.max((known?.epoch ?? 0) + 1, now().getTime()) };
  await leases.put(row);
  return row;
}
