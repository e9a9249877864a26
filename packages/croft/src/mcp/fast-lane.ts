import { AppError } from '@croft/protocol';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import type { McpApp } from './mcp-app.ts';
import { toErrorResult, toResult } from './server.ts';

export interface FastLaneOptions<S> {
  readonly toolbox: Pick<McpApp<S>['toolbox'], 'call' | 'mayAsk'>;
  /** Of this client, asked for with every call. */
  session(): S;
}

/** `undefined` for a call that was taken back, and is not answered. */
export type SendAnswer = (answer: JSONRPCMessage | undefined) => void;

export type FastLane = ReturnType<typeof createFastLane>;

type Id = string | number;

/**
 * Answers the tool calls of a 2025 client on the spot. In that era an answer is the result and nothing more, so the
 * protocol layer has nothing to add but most of the time a small call takes. Everything else goes its way.
 */
export function createFastLane<S>({ toolbox, session }: FastLaneOptions<S>) {
  const underWay = new Map<Id, AbortController>();
  let isOfThatEra = false;

  return {
    /** Whether it took the message. What it answers to that goes to `send`. */
    take(message: JSONRPCMessage, send: SendAnswer): boolean {
      if (!('method' in message)) return false;
      if (message.method === 'notifications/cancelled') return takeBack(message.params);
      if (message.method === 'notifications/initialized') isOfThatEra = true;
      if (!isOfThatEra || message.method !== 'tools/call' || !('id' in message) || !isId(message.id)) return false;
      const call = toCall(message.params);
      // A call that a person may have to agree to needs the protocol layer to ask them.
      if (!call || underWay.has(message.id) || toolbox.mayAsk(call.name)) return false;
      void answer(message.id, call).then(send);
      return true;
    },
    cancel: (id: Id): void => underWay.get(id)?.abort(),
    close(): void {
      for (const controller of underWay.values()) controller.abort();
    },
  };

  async function answer(id: Id, { name, input }: Call): Promise<JSONRPCMessage | undefined> {
    const controller = new AbortController();
    underWay.set(id, controller);
    const result = await start(name, input, controller.signal).then(toResult, (thrown) =>
      toErrorResult(AppError.from(thrown)),
    );
    underWay.delete(id);
    return controller.signal.aborted ? undefined : { jsonrpc: '2.0', id, result };
  }

  async function start(name: string, input: unknown, signal: AbortSignal) {
    return toolbox.call(name, input, { session: session(), signal });
  }

  function takeBack(params: unknown): boolean {
    const id = typeof params === 'object' && params !== null && 'requestId' in params ? params.requestId : undefined;
    const controller = isId(id) ? underWay.get(id) : undefined;
    controller?.abort();
    return controller !== undefined;
  }
}

interface Call {
  readonly name: string;
  readonly input: unknown;
}

function isId(id: unknown): id is Id {
  return typeof id === 'string' || typeof id === 'number';
}

/** `undefined` for what the protocol layer should judge. */
function toCall(params: unknown): Call | undefined {
  if (typeof params !== 'object' || params === null || !('name' in params) || typeof params.name !== 'string')
    return undefined;
  const input = 'arguments' in params ? params.arguments : {};
  return typeof input === 'object' && input !== null && !Array.isArray(input)
    ? { name: params.name, input }
    : undefined;
}
