import { AppError } from '@croft/protocol';
import { Link, type LinkState } from '../transport/link.ts';
import { createIncomingCalls } from './incoming-calls.ts';
import { createOutgoingCalls } from './outgoing-calls.ts';
import type { Peer } from './peer.ts';

export interface PeerOptions {
  /** The dialling side uses odd call numbers and the other side even ones, so that numbers never clash. */
  readonly isDialler: boolean;
  readonly graceMs: number;
  onState?(state: LinkState): void;
}

/** Creates a peer and its link. The link sends nothing until a connection is attached. */
export function createPeer({ isDialler, graceMs, onState }: PeerOptions): { readonly peer: Peer; readonly link: Link } {
  const lost = Promise.withResolvers<AppError>();
  const link = new Link({
    graceMs,
    onFrame: (frame) => (isOwn(frame.call) ? outgoing : incoming).receive(frame),
    onLost,
    ...(onState && { onState }),
  });
  const outgoing = createOutgoingCalls(link, isDialler ? 1 : 2);
  const incoming = createIncomingCalls(link);
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
