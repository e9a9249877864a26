import type { JSONRPCMessage } from '@modelcontextprotocol/server';

/** Which requests still wait for their answer. */
export function createOwedAnswers() {
  const owed = new Set<string | number>();

  return {
    received(message: JSONRPCMessage): void {
      if (!('method' in message)) return;
      if ('id' in message) owed.add(message.id);
      else if (message.method === 'notifications/cancelled') forget(message.params);
    },
    sent(message: JSONRPCMessage): void {
      if ('id' in message && !('method' in message) && message.id !== undefined) owed.delete(message.id);
    },
    isNone: () => owed.size === 0,
  };

  /** What is taken back is not answered. */
  function forget(params: unknown): void {
    const id = typeof params === 'object' && params !== null && 'requestId' in params ? params.requestId : undefined;
    if (typeof id === 'string' || typeof id === 'number') owed.delete(id);
  }
}
