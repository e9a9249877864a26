import { AppError } from '@croft/protocol';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import type { App } from '../app.ts';
import type { Session } from '../core/session.ts';
import { toErrorResult, toResult } from './server.ts';

export interface FastLaneOptions {
  readonly app: Pick<App, 'toolbox'>;
  readonly session: Session;
  send(message: JSONRPCMessage): void;
}

type Id = string | number;

/**
 * Answers the tool calls of a 2025 client on the spot. In that era an answer is the result and nothing more, so the
 * protocol layer has nothing to add but most of the time a small call takes. Everything else goes its way.
 */
export function createFastLane({ app: { toolbox }, session, send }: FastLaneOptions) {
  const underWay = new Map<Id, AbortController>();
  let isOfThatEra = false;

  return {
    /** Whether it took the message. */
    take(message: JSONRPCMessage): boolean {
      if (!('method' in message)) return false;
      if (message.method === 'notifications/cancelled') return cancel(message.params);
      if (message.method === 'notifications/initialized') isOfThatEra = true;
      if (!isOfThatEra || message.method !== 'tools/call' || !('id' in message)) return false;
      const call = toCall(message.params);
      // A call that a person may have to agree to needs the protocol layer to ask them.
      if (!call || underWay.has(message.id) || toolbox.mayAsk(call.name)) return false;
      void answer(message.id, call);
      return true;
    },
    close(): void {
      for (const controller of underWay.values()) controller.abort();
    },
  };

  async function answer(id: Id, { name, input }: { name: string; input: unknown }): Promise<void> {
    const controller = new AbortController();
    underWay.set(id, controller);
    const result = await toolbox
      .call(name, input, { session, signal: controller.signal })
      .then(toResult, (thrown) => toErrorResult(AppError.from(thrown)));
    underWay.delete(id);
    // What was taken back is not answered.
    if (!controller.signal.aborted) send({ jsonrpc: '2.0', id, result });
  }

  function cancel(params: unknown): boolean {
    const id = typeof params === 'object' && params !== null && 'requestId' in params ? params.requestId : undefined;
    const controller = typeof id === 'string' || typeof id === 'number' ? underWay.get(id) : undefined;
    controller?.abort();
    return controller !== undefined;
  }
}

/** `undefined` for what the protocol layer should judge. */
function toCall(params: unknown): { name: string; input: unknown } | undefined {
  if (typeof params !== 'object' || params === null || !('name' in params) || typeof params.name !== 'string')
    return undefined;
  const input = 'arguments' in params ? params.arguments : {};
  return typeof input === 'object' && input !== null && !Array.isArray(input)
    ? { name: params.name, input }
    : undefined;
}
