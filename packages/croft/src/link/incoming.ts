import { AppError } from '@croft/protocol';
import { type Frame, frameTypes, ProtocolFault } from './frames.ts';
import { IncomingCall, type Request } from './incoming-call.ts';
import { decodeJson } from './json.ts';
import { maxCalls } from './limits.ts';
import type { Link } from './link.ts';
import type { Handler } from './peer.ts';

/** The calls of the other side. One that was answered is kept until the other side has said that it knows. */
export function createIncoming(link: Link) {
  const handlers = new Map<string, Handler>();
  const calls = new Map<number, IncomingCall>();
  let lastId = 0;
  let underWay = 0;

  return {
    serve(added: Readonly<Record<string, Handler>>): void {
      for (const [method, handler] of Object.entries(added)) {
        if (handlers.has(method)) throw new Error(`${method} is served already`);
        handlers.set(method, handler);
      }
    },

    receive(frame: Frame): void {
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

  function open(frame: Frame): void {
    if (frame.call <= lastId) throw new ProtocolFault('a call under a number that was used before');
    // Ours never has so many, and half of them would have been refused already.
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
    else call.fail(new AppError('E_NOT_FOUND', 'nothing here answers to a call of that name'));
  }
}

function toRequest({ call: id, payload }: Frame): Request {
  const body = decodeJson(payload);
  const { method, params, deadlineMs } = (typeof body === 'object' && body !== null ? body : {}) as Record<
    string,
    unknown
  >;
  if (typeof method !== 'string' || !/^[\w./:-]{1,100}$/.test(method)) throw new ProtocolFault('a call of no method');
  return { id, method, params, deadlineMs: toDeadline(deadlineMs) };
}

function toDeadline(ms: unknown): number | undefined {
  if (ms === undefined) return undefined;
  if (typeof ms !== 'number' || !(ms >= 0)) throw new ProtocolFault('a call with a wrong deadline');
  return Math.min(ms, 2 ** 31 - 1);
}
