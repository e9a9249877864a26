import { Resolver } from 'node:dns/promises';

export type Resolve = (host: string) => Promise<readonly string[]>;

/**
 * By DNS alone, over sockets of its own: `dns.lookup` would share two threads with the whole process, and a name
 * whose server never answers would hold them. No search domains: a name means itself.
 */
export function createResolve(timeoutMs: number, servers?: readonly string[]): Resolve {
  return async (host) => {
    // A new one each time, because a machine that moves to another network gets other servers.
    const resolver = new Resolver({ timeout: Math.ceil(timeoutMs / 4), tries: 2 });
    if (servers) resolver.setServers(servers);
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = answers.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    if (addresses.length > 0) return addresses;
    throw new AggregateError(answers.map((one) => (one.status === 'rejected' ? one.reason : undefined)));
  };
}
