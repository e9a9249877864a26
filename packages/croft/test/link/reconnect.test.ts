import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { expect, test, vi } from 'vitest';
import type { CallHandler } from '../../src/link/calls/peer.ts';
import { startFaultyCable } from '../support/faults/faulty-cable.ts';
import { startDialling, startLinkServer } from './link-server.ts';

const hang: CallHandler = (_, { signal }) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

/** A runner that serves these, connected through a cable. */
async function connectThroughCable(
  handlers: Record<string, CallHandler>,
  options: Parameters<typeof startLinkServer>[0] = {},
) {
  const server = await startLinkServer(options);
  const cable = await startFaultyCable(server.url);
  const peers: unknown[] = [];
  const runner = startDialling(cable.url, {
    onLink(peer) {
      peers.push(peer);
      peer.serve(handlers);
    },
  });
  await vi.waitFor(() => expect(server.links).toHaveLength(1));
  const { link } = server.links[0]!;
  await expect(link.peer.call('nothing', {}, {}).answer).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  return { server, cable, runner, link, peers, peer: link.peer };
}

test('a stream resumes at the byte where it was cut, and nothing runs twice', async () => {
  const runs = vi.fn();
  const size = 4_000_000;
  const { cable, peer, runner, server, link } = await connectThroughCable({
    async produce(_, call) {
      runs();
      const stream = call.writable(1);
      for (let at = 0; at < size; at += 400) {
        const bytes = Buffer.alloc(400);
        for (let index = 0; index < 400; index += 4) bytes.writeUInt32LE(at + index, index);
        if (!stream.write(bytes)) await once(stream, 'drain');
      }
      return 'all';
    },
  });
  const states: string[] = [];
  link.onState((state) => states.push(state));
  const call = peer.call('produce', {}, {});
  cable.cutAfter(50_001);
  let at = 0;
  for await (const bytes of call.readable(1) as AsyncIterable<Buffer>) {
    const before = at;
    for (let index = 0; index < bytes.length; index++, at++) {
      if (bytes[index] !== ((at & ~3) >>> (8 * (at & 3))) % 256) throw new Error(`byte ${at} is not where it belongs`);
    }
    if (Math.floor(before / 500_000) < Math.floor(at / 500_000)) cable.cutAfter(10_000 + (at % 7777));
  }
  expect(at).toBe(size);
  expect(await call.answer).toBe('all');
  expect(runs).toHaveBeenCalledOnce();
  expect(cable.count()).toBeGreaterThan(5);
  expect(server.links).toHaveLength(1);
  expect(runner.states.filter((state) => state === 'online').length).toBeGreaterThan(1);
  expect(states.slice(0, 2)).toEqual(['reconnecting', 'online']);
});

test('a message that arrives byte by byte is the same message', async () => {
  const { cable, peer } = await connectThroughCable({
    async echo(_, call) {
      call.readable(0).pipe(call.writable(1));
      await once(call.readable(0), 'end');
    },
  });
  cable.split(7);
  const sent = Buffer.from(Array.from({ length: 3000 }, (_, index) => index % 251));
  const call = peer.call('echo', {}, {});
  call.writable(0).end(sent);
  expect((await buffer(call.readable(1))).equals(sent)).toBe(true);
  expect(cable.count()).toBe(1);
});

test('a silent connection is dropped by both sides, and the link resumes over another', async () => {
  const { cable, peer, runner, server } = await connectThroughCable(
    { ask: async () => 'answered' },
    { heartbeatMs: 50 },
  );
  cable.swallow();
  const answer = peer.call('ask', {}, {}).answer;
  expect(await answer).toBe('answered');
  expect(cable.count()).toBe(2);
  expect(server.links).toHaveLength(1);
  expect(runner.peers).toHaveLength(0);
});

test('after the grace period everything in flight fails on both sides, and a new link begins', async () => {
  const ended = vi.fn();
  const { cable, peer, server, peers } = await connectThroughCable(
    { hang: (params, call) => hang(params, call).catch((thrown) => ended(thrown.code)) },
    { graceMs: 300 },
  );
  const calls = Array.from({ length: 20 }, () => peer.call('hang', {}, {}));
  const reading = expect(buffer(calls[0]!.readable(1))).rejects.toMatchObject({ code: 'E_RUNNER_LOST' });
  await expect(peer.call('nothing', {}, {}).answer).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  await cable.refuse();
  await vi.waitFor(() => expect(server.links[0]!.link.state()).not.toBe('online'), { interval: 1 });
  const unsent = peer.call('later', {}, {});
  for (const call of calls) {
    await expect(call.answer).rejects.toMatchObject({ code: 'E_RUNNER_LOST', details: { method: 'hang', sent: true } });
  }
  await expect(unsent.answer).rejects.toMatchObject({
    code: 'E_RUNNER_LOST',
    details: { method: 'later', sent: false },
  });
  await reading;
  await vi.waitFor(() => expect(ended).toHaveBeenCalledTimes(20));
  expect(ended).toHaveBeenCalledWith('E_RUNNER_LOST');
  expect(server.links[0]!.link.state()).toBe('offline');
  await cable.accept();
  await vi.waitFor(() => expect(server.links).toHaveLength(2));
  await vi.waitFor(() => expect(peers).toHaveLength(2));
  await expect(server.links[1]!.link.peer.call('nothing', {}, {}).answer).rejects.toMatchObject({
    code: 'E_NOT_FOUND',
  });
});

test('a restarted server does not know the link, so the runner drops it too', async () => {
  const first = await startLinkServer();
  const cable = await startFaultyCable(first.url);
  const ended = vi.fn();
  const lost: string[] = [];
  startDialling(cable.url, {
    onLink(peer) {
      peer.serve({ hang: (params, call) => hang(params, call).catch((thrown) => ended(thrown.code)) });
      void peer.lost.then(({ message }) => lost.push(message));
    },
  });
  await vi.waitFor(() => expect(first.links).toHaveLength(1));
  const { link } = first.links[0]!;
  link.peer.call('hang', {}, {});
  await expect(link.peer.call('nothing', {}, {}).answer).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  // As after a kill: the old one says nothing, and the new one knows nothing.
  const second = await startLinkServer();
  cable.aim(second.url);
  cable.cut();
  await vi.waitFor(() => expect(second.links).toHaveLength(1));
  await vi.waitFor(() => expect(ended).toHaveBeenCalledWith('E_RUNNER_LOST'));
  expect(lost).toEqual([expect.stringContaining('no longer knows this link')]);
});

test('a stopped runner says so, and leaves nothing', async () => {
  const { runner, peer, link, server } = await connectThroughCable({ hang });
  const call = peer.call('hang', {}, {});
  await expect(peer.call('nothing', {}, {}).answer).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  await runner.stop();
  await expect(call.answer).rejects.toThrow('the runner is stopping');
  expect(link.state()).toBe('offline');
  await vi.waitFor(() => expect(server.sockets.clients.size).toBe(0));
});
