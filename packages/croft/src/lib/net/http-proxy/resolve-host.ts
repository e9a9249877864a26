import { Resolver } from 'node:dns/promises';

export type ResolveHost = (host: string) => Promise<readonly string[]>;

/**
 * Resolves host names by DNS queries over its own sockets. `dns.lookup` would use the thread pool of the whole process,
 * and names whose server never answers would block it. Uses no search domains and no hosts file.
 */
export function createHostResolver(timeoutMs: number, servers?: readonly string[]): ResolveHost {
  return async (host) => {
    // A new resolver each time, because a machine that changes networks gets other DNS servers.
    const resolver = new Resolver({ timeout: Math.ceil(timeoutMs / 4), tries: 2 });
    if (servers) resolver.setServers(servers);
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = answers.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    if (addresses.length > 0) return addresses;
    throw new AggregateError(answers.map((one) => (one.status === 'rejected' ? one.reason : undefined)));
  };
}
