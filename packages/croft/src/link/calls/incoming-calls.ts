import { AppError } from '@croft/protocol';
import { frameTypes, type LinkFrame, ProtocolFault } from '../transport/frames.ts';
import type { Link } from '../transport/link.ts';
import { maxCalls } from '../transport/link-limits.ts';
import { type CallRequest, IncomingCall } from './incoming-call.ts';
import { decodeJson } from './json-codec.ts';
import type { CallHandler } from './peer.ts';

/**
 * The calls that the other side made. An answered call is kept until the other side confirms the answer with a `done`
 * frame.
 */
export function createIncomingCalls(link: Link) {
  const handlers = new Map<string, CallHandler>();
  const calls = new Map<number, IncomingCall>();
  let lastId = 0;
  let underWay = 0;

  return {
    serve(added: Readonly<Record<string, CallHandler>>): void {
      for (const [method, handler] of Object.entries(added)) {
        if (handlers.has(method)) throw new Error(`${method} is served already`);
        handlers.set(method, handler);
      }
    },

    receive(frame: LinkFrame): void {
      if (frame.type === frameTypes.open) open(frame);
      else if (frame.type === frameTypes.done) forget(frame.call);
      else find(frame.call).receive(frame);
    },

    lose(reason: string): void {
      for (const call of calls.values()) call.lose(reason);
      calls.clear();
    },
  };

  function find(id: number): IncomingCall {
    const call = calls.get(id);
    if (!call) throw new ProtocolFault('a frame for a call that is not open');
    return call;
  }

  function forget(id: number): void {
    if (!find(id).isAnswered) throw new ProtocolFault('the end of a call before its answer');
    calls.delete(id);
  }

  function open(frame: LinkFrame): void {
    if (frame.call <= lastId) throw new ProtocolFault('a call under a number that was used before');
    // A correct peer stays below this: it opens at most `maxCalls`, and calls beyond that are refused at once.
    if (calls.size >= 2 * maxCalls) throw new ProtocolFault('more calls than it can wait for');
    lastId = frame.call;
    const request = toRequest(frame);
    const call = new IncomingCall(link, request, () => {
      underWay -= 1;
    });
    calls.set(frame.call, call);
    underWay += 1;
    start(call, request.method);
  }

  function start(call: IncomingCall, method: string): void {
    const handler = handlers.get(method);
    const tooMany = `${maxCalls} calls are under way on this link already`;
    if (underWay > maxCalls) call.fail(new AppError('E_TOO_MANY', tooMany));
    else if (handler) void call.run(handler);
    else call.fail(new AppError('E_NOT_FOUND', 'there is no method of that name'));
  }
}

function toRequest({ call: id, payload }: LinkFrame): CallRequest {
  const body = decodeJson(payload);
  const { method, params, deadlineMs } = (typeof body === 'object' && body !== null ? body : {}) as Record<
    string,
    unknown
  >;
  if (typeof method !== 'string' || !/^[\w./:-]{1,100}$/.test(method))
    throw new ProtocolFault('a call without a valid method name');
  return { id, method, params, deadlineMs: toDeadline(deadlineMs) };
}

function toDeadline(ms: unknown): number | undefined {
  if (ms === undefined) return undefined;
  if (typeof ms !== 'number' || !(ms >= 0)) throw new ProtocolFault('a call with a wrong deadline');
  return Math.min(ms, 2 ** 31 - 1);
}
