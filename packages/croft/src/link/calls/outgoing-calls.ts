import { AppError } from '@croft/protocol';
import { frameTypes, type LinkFrame, nextNumber, ProtocolFault } from '../transport/frames.ts';
import type { Link } from '../transport/link.ts';
import { maxCalls } from '../transport/link-limits.ts';
import { lostError } from './error-codec.ts';
import { OutgoingCall } from './outgoing-call.ts';
import type { CallOptions, PendingCall } from './peer.ts';

/** The calls that this side made. A cancelled call is kept until the other side has answered it. */
export function createOutgoingCalls(link: Link, firstId: number) {
  const calls = new Map<number, OutgoingCall>();
  let nextId = firstId;
  let lostFor: string | undefined;

  return {
    call(method: string, params: unknown, options: CallOptions): PendingCall {
      const call = new OutgoingCall(link, nextId, method);
      nextId = nextNumber(nextId, 2);
      try {
        open(call, params, options);
      } catch (thrown) {
        call.fail(thrown);
      }
      return call.pending;
    },

    receive(frame: LinkFrame): void {
      const call = calls.get(frame.call);
      if (!call) throw new ProtocolFault('a frame for a call that is not open');
      if (!call.receive(frame)) return;
      calls.delete(frame.call);
      link.sendLazily(frameTypes.done, frame.call);
    },

    lose(reason: string): void {
      lostFor = reason;
      for (const call of calls.values()) call.lose(reason);
      calls.clear();
    },
  };

  function open(call: OutgoingCall, params: unknown, options: CallOptions): void {
    if (lostFor !== undefined) throw lostError(lostFor, call.method, false);
    if (calls.size >= maxCalls)
      throw new AppError('E_TOO_MANY', `${maxCalls} calls are under way on this link already`);
    call.open(params, options);
    calls.set(call.id, call);
  }
}
