import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';

/**
 * Watches what passes a transport, so that a program can wait for the answers to what it has taken on. A tool that
 * has ended is not yet an answer that has been sent.
 */
export function trackAnswers(transport: Transport) {
  const owed = new Set<string | number>();
  let onSettled: (() => void) | undefined;
  const settle = (id: string | number) => {
    owed.delete(id);
    if (owed.size === 0) onSettled?.();
  };

  const tracked: Transport = {
    start: () => transport.start(),
    close: () => transport.close(),
    async send(message, options) {
      await transport.send(message, options);
      if ('id' in message && !('method' in message) && message.id !== undefined) settle(message.id);
    },
  };
  transport.onmessage = (message: JSONRPCMessage, extra?: unknown) => {
    if ('method' in message && 'id' in message) owed.add(message.id);
    if ('method' in message && message.method === 'notifications/cancelled') forget(message.params);
    tracked.onmessage?.(message, extra as never);
  };
  transport.onclose = () => tracked.onclose?.();
  transport.onerror = (error) => tracked.onerror?.(error);

  return {
    transport: tracked,
    /** Resolves when nothing is owed, or at the deadline. */
    async settled(deadlineMs: number): Promise<void> {
      if (owed.size === 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      onSettled = resolve;
      const timer = setTimeout(resolve, deadlineMs);
      await promise;
      clearTimeout(timer);
    },
  };

  /** What is taken back is not answered. */
  function forget(params: unknown): void {
    const id = typeof params === 'object' && params !== null && 'requestId' in params ? params.requestId : undefined;
    if (typeof id === 'string' || typeof id === 'number') settle(id);
  }
}
