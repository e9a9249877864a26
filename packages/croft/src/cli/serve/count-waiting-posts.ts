import type { Server } from 'node:http';

/** Counts requests that wait for an answer. A GET is not counted, because it may be an endless stream. */
export function countWaitingPosts(server: Server) {
  let [waiting, onDrained] = [0, () => {}];
  server.on('request', ({ method }, response) => {
    if (method === 'GET' || method === 'HEAD') return;
    waiting += 1;
    response.once('close', () => {
      waiting -= 1;
      if (waiting === 0) onDrained();
    });
  });
  return {
    async drained(deadlineMs: number): Promise<void> {
      if (waiting === 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      onDrained = resolve;
      const timer = setTimeout(resolve, deadlineMs);
      await promise;
      clearTimeout(timer);
    },
  };
}
