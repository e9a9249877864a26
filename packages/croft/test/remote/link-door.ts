import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RunnerLink } from '../../src/app/runners/runner-link.ts';
import { createRunnerSocket } from '../../src/app/runners/runner-socket.ts';
import type { Peer } from '../../src/link/peer.ts';
import { createRunnerDoor } from '../../src/rest/runner-door.ts';
import { serveUpgrades } from '../../src/rest/upgrades.ts';

const onLoopback = { host: '127.0.0.1', allowsInsecure: false };

export interface DoorOptions {
  readonly host: string;
  readonly allowsInsecure: boolean;
}

/**
 * The door of a real server for runners, with nothing behind it but their links. A token that it gave is
 * that of a runner; no other is.
 */
export async function startLinkDoor({ host, allowsInsecure }: DoorOptions = onLoopback) {
  const waiting = new Map<string, (link: RunnerLink) => void>();
  const runners = createRunnerSocket({
    ...{ allowsInsecure, graceMs: 60_000, heartbeatMs: 15_000, now: () => new Date() },
    authenticate: async (token) =>
      waiting.has(token)
        ? { accountId: 'door', runnerId: token, name: token, createdAt: new Date(0).toISOString() }
        : undefined,
    fleet: { join: ({ name }, _report, link) => waiting.get(name)?.(link), onDrop() {} },
  });
  const server = createServer();
  serveUpgrades(server, { hostNames: [], doors: [createRunnerDoor(runners)], isStopping: () => false });
  await once(server.listen(0, host), 'listening');
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    /** For one runner, and the server's end of its link when it comes. */
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

export type LinkDoor = Awaited<ReturnType<typeof startLinkDoor>>;
