import { createPeer, type PeerOptions } from '../../src/link/create-peer.ts';
import type { Peer } from '../../src/link/peer.ts';
import type { Wire, WireEvents } from '../../src/link/wire.ts';

/** Two ends of one connection in memory. Messages arrive in order and later, as they do over a socket. */
export function createWirePair(): [Wire, Wire] {
  const ends: (WireEvents | undefined)[] = [];
  let isOpen = true;
  const drop = (reason: string) => {
    if (!isOpen) return;
    isOpen = false;
    for (const end of ends) setImmediate(() => end?.onClose(reason));
  };
  const createEnd = (own: number, other: number): Wire => {
    const arrive = (message: Buffer) => {
      if (isOpen) ends[other]?.onMessage(message);
    };
    return {
      start(events) {
        ends[own] = events;
      },
      // A copy, as a socket makes one: the sender stamps its frames again.
      send: (message) => void setImmediate(arrive, Buffer.from(message)),
      buffered: () => 0,
      end: () => void setImmediate(drop, 'it was ended'),
      drop,
    };
  };
  return [createEnd(0, 1), createEnd(1, 0)];
}

/** A server and its runner, without a network between them. */
export function connectPeers(options: Partial<PeerOptions> = {}): [Peer, Peer] {
  const server = createPeer({ graceMs: 60_000, ...options, isDialler: false });
  const runner = createPeer({ graceMs: 60_000, ...options, isDialler: true });
  const [a, b] = createWirePair();
  server.link.attach(a, 0);
  runner.link.attach(b, 0);
  return [server.peer, runner.peer];
}
