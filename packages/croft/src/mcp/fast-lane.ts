import { AppError } from '@croft/protocol';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import type { McpApp } from './mcp-app.ts';
import { createProgressNotifications, type Progress, progressTokenIn } from './progress-notifications.ts';
import { namesSession } from './read-session-name.ts';
import { maxAnswerBytes, toErrorResult, toResult } from './to-mcp-result.ts';

interface FastLaneOptions<S> {
  readonly toolbox: Pick<McpApp<S>['toolbox'], 'call' | 'mayAsk'>;
  /** The session of this client. Called for every call. */
  session(): S;
}

export interface Reply {
  /** `undefined` for a cancelled call, which gets no answer. */
  send(answer: JSONRPCMessage | undefined): void;
  /** Sends a notification about the call before its answer. */
  notify(notification: JSONRPCMessage): void;
  /**
   * The call needs an approval, and only the protocol layer can ask the person. `answer` is for a caller that can no
   * longer use the protocol layer.
   */
  handOver(answer: JSONRPCMessage): void;
}

export type FastLane = ReturnType<typeof createFastLane>;

type Id = string | number;

/**
 * Answers the tool calls of a 2025 client directly from the toolbox. In that protocol an answer is only the result, so
 * that the protocol layer adds nothing but most of the time of a small call. All other messages go to the protocol
 * layer.
 */
export function createFastLane<S>({ toolbox, session }: FastLaneOptions<S>) {
  const underWay = new Map<Id, AbortController>();
  let isOfThatEra = false;

  return {
    /** Returns whether the fast lane took the message. It answers through `reply`. */
    take(message: JSONRPCMessage, reply: Reply): boolean {
      if (!('method' in message)) return false;
      if (message.method === 'notifications/cancelled') return takeBack(message.params);
      if (message.method === 'notifications/initialized') isOfThatEra = true;
      if (!isOfThatEra || message.method !== 'tools/call' || !('id' in message) || !isId(message.id)) return false;
      const call = toFastCall(message.params);
      // A call that may need an approval goes to the protocol layer, which can ask the person.
      if (!call || underWay.has(message.id) || toolbox.mayAsk(call.name)) return false;
      void answer(message.id, call, reply);
      return true;
    },
    cancel: (id: Id): void => underWay.get(id)?.abort(),
    close(): void {
      for (const controller of underWay.values()) controller.abort();
    },
  };

  async function answer(id: Id, call: FastCall, { send, notify, handOver }: Reply): Promise<void> {
    const controller = new AbortController();
    const { signal } = controller;
    underWay.set(id, controller);
    const progress = createProgressNotifications({ token: call.progressToken, tool: call.name, send: notify });
    const done = await start(call, signal, progress).then(toResult, AppError.from);
    progress.stop();
    underWay.delete(id);
    if (signal.aborted) return send(undefined);
    const result = AppError.is(done) ? toErrorResult(done) : done;
    const deliver = AppError.is(done) && done.code === 'E_APPROVAL_REQUIRED' ? handOver : send;
    deliver({ jsonrpc: '2.0', id, result });
  }

  async function start({ name, input }: FastCall, signal: AbortSignal, { onActivity }: Progress) {
    return toolbox.call(name, input, { session: session(), signal, asker: 'later', maxAnswerBytes, onActivity });
  }

  function takeBack(params: unknown): boolean {
    const id = typeof params === 'object' && params !== null && 'requestId' in params ? params.requestId : undefined;
    const controller = isId(id) ? underWay.get(id) : undefined;
    controller?.abort();
    return controller !== undefined;
  }
}

interface FastCall {
  readonly name: string;
  readonly input: unknown;
  readonly progressToken: unknown;
}

function isId(id: unknown): id is Id {
  return typeof id === 'string' || typeof id === 'number';
}

/** Returns `undefined` for params that the protocol layer has to validate. */
function toFastCall(params: unknown): FastCall | undefined {
  if (typeof params !== 'object' || params === null || !('name' in params) || typeof params.name !== 'string')
    return undefined;
  // The protocol layer checks the session name together with the rest of the request.
  if (namesSession(params)) return undefined;
  const input = 'arguments' in params ? params.arguments : {};
  return typeof input === 'object' && input !== null && !Array.isArray(input)
    ? { name: params.name, input, progressToken: progressTokenIn(params) }
    : undefined;
}
