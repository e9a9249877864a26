import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RunnerHello } from '@croft/protocol';
import { onTestFinished } from 'vitest';
import { WebSocketServer } from 'ws';
import { LinkRefusal } from '../../src/link/accept/link-refusal.ts';
import { createLinkServer, type LinkServerOptions } from '../../src/link/accept/link-server.ts';
import type { ServedLink } from '../../src/link/accept/link-table.ts';
import type { Peer } from '../../src/link/calls/peer.ts';
import { type DialOptions, dialServer } from '../../src/link/dial/dial-server.ts';
import { maxMessageBytes } from '../../src/link/transport/link-limits.ts';

export const report: RunnerHello['report'] = {
  ...{ version: '0.1.0', provider: 'bubblewrap', labels: { zone: 'a' }, capacity: 4 },
  ...{ workspaces: ['app'], makesWorkspaces: true },
};

export interface SeenLink {
  readonly who: string;
  readonly hello: RunnerHello;
  readonly link: ServedLink;
}

/** Starts a real server on loopback that accepts tokens `<key> …`, and records every link. */
export async function startLinkServer(options: Partial<LinkServerOptions<string>> = {}, address?: string) {
  const links: SeenLink[] = [];
  const server = createLinkServer<string>({
    ...{ graceMs: 60_000, heartbeatMs: 10_000, now: () => new Date() },
    async admit({ token }) {
      const [key = ''] = token.split(' ');
      if (!key.startsWith('key')) throw new LinkRefusal('AUTH_FAILED', 'no such token\u001b[2J');
      return { who: token, key };
    },
    onLink: (who, hello, link) => void links.push({ who, hello, link }),
    ...options,
  });
  const http = createServer();
  const sockets = new WebSocketServer({ server: http, perMessageDeflate: false, maxPayload: maxMessageBytes });
  sockets.on('connection', (socket, request) => {
    const token = request.headers.authorization?.slice('Bearer '.length) ?? '';
    server.accept(socket, { token, address: address ?? request.socket.remoteAddress ?? '', isEncrypted: false });
  });
  await once(http.listen(0, '127.0.0.1'), 'listening');
  const { port } = http.address() as AddressInfo;
  const close = async () => {
    server.close();
    for (const socket of sockets.clients) socket.terminate();
    await new Promise((resolve) => http.close(resolve));
  };
  onTestFinished(close);
  return { url: `http://127.0.0.1:${port}`, links, server, sockets, close };
}

/** Starts a runner that dials until the test ends, and records its links and states. */
export function startDialling(url: string, options: Partial<DialOptions> = {}) {
  const peers: Peer[] = [];
  const states: string[] = [];
  const controller = new AbortController();
  const done = dialServer({
    ...{ url, token: () => 'key', report: () => report, isInsecure: false, signal: controller.signal },
    onLink: (peer) => void peers.push(peer),
    onState: (state, detail) => void states.push(detail === undefined ? state : `${state}: ${detail}`),
    backoff: { firstMs: 10, longestMs: 50, steadyMs: 1 },
    ...options,
  });
  const stop = async () => {
    controller.abort();
    await done;
  };
  onTestFinished(stop);
  return { peers, states, stop, done };
}
