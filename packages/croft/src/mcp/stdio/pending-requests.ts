import type { JSONRPCMessage } from '@modelcontextprotocol/server';

/** Tracks which requests are still unanswered. */
export function createPendingRequests() {
  const pending = new Set<string | number>();

  return {
    received(message: JSONRPCMessage): void {
      if (!('method' in message)) return;
      if ('id' in message) pending.add(message.id);
      else if (message.method === 'notifications/cancelled') forget(message.params);
    },
    sent(message: JSONRPCMessage): void {
      if ('id' in message && !('method' in message) && message.id !== undefined) pending.delete(message.id);
    },
    isNone: () => pending.size === 0,
  };

  /** A cancelled request gets no answer. */
  function forget(params: unknown): void {
    const id = typeof params === 'object' && params !== null && 'requestId' in params ? params.requestId : undefined;
    if (typeof id === 'string' || typeof id === 'number') pending.delete(id);
  }
}
