import { createPeer, type PeerOptions } from '../../src/link/calls/create-peer.ts';
import type { Peer } from '../../src/link/calls/peer.ts';
import type { LinkWire, LinkWireEvents } from '../../src/link/transport/link-wire.ts';

/** Two ends of a connection in memory. Messages arrive in order and later, as over a socket. */
export function createWirePair(): [LinkWire, LinkWire] {
  const ends: (LinkWireEvents | undefined)[] = [];
  let isOpen = true;
  const drop = (reason: string) => {
    if (!isOpen) return;
    isOpen = false;
    for (const end of ends) setImmediate(() => end?.onClose(reason));
  };
  const createEnd = (own: number, other: number): LinkWire => {
    const arrive = (message: Buffer) => {
      if (isOpen) ends[other]?.onMessage(message);
    };
    return {
      start(events) {
        ends[own] = events;
      },
      // Copied, as a socket does: the sender reuses and stamps its frames again.
      send: (message) => void setImmediate(arrive, Buffer.from(message)),
      respondsWithin: async () => true,
      buffered: () => 0,
      end: () => void setImmediate(drop, 'it was ended'),
      drop,
    };
  };
  return [createEnd(0, 1), createEnd(1, 0)];
}

/** Connects the peers of a server and a runner without a network. */
export function connectPeers(options: Partial<PeerOptions> = {}): [Peer, Peer] {
  const server = createPeer({ graceMs: 60_000, ...options, isDialler: false });
  const runner = createPeer({ graceMs: 60_000, ...options, isDialler: true });
  const [a, b] = createWirePair();
  server.link.attach(a, 0);
  runner.link.attach(b, 0);
  return [server.peer, runner.peer];
}
