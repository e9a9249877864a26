import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { createAllowance } from './allowance.ts';
import { isObject, type JsonObject } from './clean.ts';

export interface IncomingOptions {
  /** Whether this is the answer to something that was asked. True once for each. */
  isAwaited(id: unknown): boolean;
  onMessage(message: JSONRPCMessage): void;
  onRequest(request: JsonObject): void;
  /** More came that nobody asked for than is taken. */
  onFlood(): void;
}

/** Sorts what a server sends. Only answers that are waited for, and that its tools have changed, are handed on. */
export function createIncoming({ isAwaited, onMessage, onRequest, onFlood }: IncomingOptions) {
  const unasked = createAllowance();

  return (line: Buffer): void => {
    const message = toMessage(line);
    if (message && isAnswer(message) && isAwaited(message.id)) onMessage(message as unknown as JSONRPCMessage);
    else if (!unasked.take(line.length)) onFlood();
    else if (message && !isAnswer(message)) takeUnasked(message);
  };

  function takeUnasked(message: JsonObject): void {
    if ('id' in message) onRequest(message);
    // The rest of what a server may tell is progress and logs, which nobody here reads.
    else if (message.method === 'notifications/tools/list_changed')
      onMessage({ jsonrpc: '2.0', method: message.method });
  }
}

function isAnswer(message: JsonObject): boolean {
  return !('method' in message);
}

/** `undefined` for what is no message: some servers print a greeting. */
function toMessage(line: Buffer): JsonObject | undefined {
  try {
    const message: unknown = JSON.parse(line.toString('utf8'));
    return isObject(message) && message.jsonrpc === '2.0' ? message : undefined;
  } catch {
    return undefined;
  }
}
