import { AppError } from '@croft/protocol';
import { createIncoming } from './incoming.ts';
import { Link, type LinkState } from './link.ts';
import { createOutgoing } from './outgoing.ts';
import type { Peer } from './peer.ts';

export interface PeerOptions {
  /** Numbers of calls are odd if the dialling side made them, so that neither uses those of the other. */
  readonly isDialler: boolean;
  readonly graceMs: number;
  onState?(state: LinkState): void;
}

/** A peer, and the link that it speaks over, which needs a connection. */
export function createPeer({ isDialler, graceMs, onState }: PeerOptions): { readonly peer: Peer; readonly link: Link } {
  const lost = Promise.withResolvers<AppError>();
  const link = new Link({
    graceMs,
    onFrame: (frame) => (isOwn(frame.call) ? outgoing : incoming).receive(frame),
    onLost,
    ...(onState && { onState }),
  });
  const outgoing = createOutgoing(link, isDialler ? 1 : 2);
  const incoming = createIncoming(link);
  const peer: Peer = {
    call: outgoing.call,
    serve: incoming.serve,
    lost: lost.promise,
    close: (reason) => link.close(reason),
  };
  return { peer, link };

  function isOwn(call: number): boolean {
    return (call % 2 === 1) === isDialler;
  }

  function onLost(reason: string): void {
    outgoing.lose(reason);
    incoming.lose(reason);
    lost.resolve(new AppError('E_RUNNER_LOST', `the link to the runner was lost: ${reason}`));
  }
}
