import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RunnerLink } from '../../src/app/fleet/runner-link.ts';
import { createRunnerSocket } from '../../src/app/fleet/runner-socket.ts';
import type { Peer } from '../../src/link/calls/peer.ts';
import { createRunnerUpgrade } from '../../src/rest/web-sockets/runner-upgrade.ts';
import { serveUpgrades } from '../../src/rest/web-sockets/serve-upgrades.ts';

const onLoopback = { host: '127.0.0.1', allowsInsecure: false };

export interface LinkEndpointOptions {
  readonly host: string;
  readonly allowsInsecure: boolean;
}

/** The runner endpoint of a real server, with nothing behind it but the links. Only tokens of `expect` are valid. */
export async function startLinkEndpoint({ host, allowsInsecure }: LinkEndpointOptions = onLoopback) {
  const waiting = new Map<string, (link: RunnerLink) => void>();
  const runners = createRunnerSocket({
    ...{ allowsInsecure, graceMs: 60_000, heartbeatMs: 15_000, now: () => new Date() },
    authenticate: async (token) =>
      waiting.has(token)
        ? { accountId: 'door', runnerId: token, name: token, createdAt: new Date(0).toISOString() }
        : undefined,
    fleet: { join: ({ name }, _report, link) => waiting.get(name)?.(link), refuseRival() {}, onDrop() {} },
  });
  const server = createServer();
  serveUpgrades(server, { hostNames: [], handlers: [createRunnerUpgrade(runners)], isStopping: () => false });
  await once(server.listen(0, host), 'listening');
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    /** Issues a token for one runner, and returns the server's end of its link. */
    expect(): { readonly token: string; readonly peer: Promise<Peer> } {
      const token = `runner-${waiting.size}`;
      const { promise, resolve } = Promise.withResolvers<Peer>();
      waiting.set(token, ({ peer }) => resolve(peer));
      return { token, peer: promise };
    },
    async [Symbol.asyncDispose]() {
      runners.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type LinkEndpoint = Awaited<ReturnType<typeof startLinkEndpoint>>;
