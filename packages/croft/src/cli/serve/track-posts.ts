import type { Server } from 'node:http';

/** Counts requests that wait for an answer; a GET may be a stream without an end. */
export function trackPosts(server: Server) {
  let [waiting, onSettled] = [0, () => {}];
  server.on('request', ({ method }, response) => {
    if (method === 'GET' || method === 'HEAD') return;
    waiting += 1;
    response.once('close', () => {
      waiting -= 1;
      if (waiting === 0) onSettled();
    });
  });
  return {
    async settled(deadlineMs: number): Promise<void> {
      if (waiting === 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      onSettled = resolve;
      const timer = setTimeout(resolve, deadlineMs);
      await promise;
      clearTimeout(timer);
    },
  };
}
