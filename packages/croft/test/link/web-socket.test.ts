import { buffer } from 'node:stream/consumers';
import { expect, test, vi } from 'vitest';
import { startDialling, startLinkServer } from './link-server.ts';

test('a runner dials, and either side can call the other', async () => {
  const server = await startLinkServer();
  const runner = startDialling(server.url);
  await vi.waitFor(() => expect(server.links).toHaveLength(1));
  await vi.waitFor(() => expect(runner.peers).toHaveLength(1));
  const large = Buffer.alloc(5_000_000, '0123456789abcdef!');
  runner.peers[0]!.serve({
    async echo(params, call) {
      call.readable(0).pipe(call.writable(1));
      await new Promise((resolve) => call.readable(0).once('end', resolve));
      return params;
    },
  });
  const call = server.links[0]!.link.peer.call('echo', { deep: [1] }, {});
  call.writable(0).end(large);
  expect((await buffer(call.readable(1))).equals(large)).toBe(true);
  expect(await call.answer).toEqual({ deep: [1] });
  expect(runner.states).toEqual(['online']);
  expect(server.links[0]!.hello.report.labels).toEqual({ zone: 'a' });
  await runner.stop();
  expect((await server.links[0]!.link.peer.lost).message).toContain('the runner is stopping');
  expect(server.links[0]!.link.state()).toBe('offline');
});
