import { buffer, text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { AppError } from '@croft/protocol';
import { expect, test, vi } from 'vitest';
import type { ServedCall } from '../../src/link/calls/peer.ts';
import { maxCalls, maxJsonBytes, maxUnreadMessages } from '../../src/link/transport/link-limits.ts';
import { connectPeers } from './connect-peers.ts';

test('either side can call the other', async () => {
  const [server, runner] = connectPeers();
  server.serve({ double: async (params) => 2 * Number(params) });
  runner.serve({ greet: async (params) => ({ text: `hello ${params}` }) });

  expect(await server.call('greet', 'there', {}).answer).toEqual({ text: 'hello there' });
  expect(await runner.call('double', 21, {}).answer).toBe(42);
});

test('an answer comes after everything that was written before it', async () => {
  const [server, runner] = connectPeers();
  const large = Buffer.alloc(3_000_000, 'abcdefg');
  runner.serve({
    async run(_, call) {
      call.writable(1).write('out');
      call.sendMessage({ exit: 0 });
      call.writable(2).write(large);
      return 'over';
    },
  });

  const call = server.call('run', {}, {});
  const seen: unknown[] = [];
  call.onMessage((message) => seen.push(message));
  const read = Promise.all([text(call.readable(1)), buffer(call.readable(2))]).then((both) =>
    seen.push(both[0], both[1].equals(large)),
  );
  expect(await call.answer).toBe('over');
  await read;
  expect(seen).toEqual([{ exit: 0 }, 'out', true]);
  expect(await text(call.readable(3))).toBe('');
});

test('a handler reads all that a caller writes', async () => {
  const [server, runner] = connectPeers();
  const large = Buffer.alloc(2_000_000, '0123456789');
  runner.serve({ count: async (_, call) => (await buffer(call.readable(0))).equals(large) });

  const call = server.call('count', {}, {});
  for (let at = 0; at < large.length; at += 70_001) call.writable(0).write(large.subarray(at, at + 70_001));
  call.writable(0).write(Buffer.alloc(0));
  call.writable(0).end();
  expect(await call.answer).toBe(true);
});

test('a reader that does not read pauses its writer, which goes on later', async () => {
  const [server, runner] = connectPeers();
  let written = 0;
  runner.serve({
    async flood(_, call) {
      const stream = call.writable(0);
      for (let index = 0; index < 200; index++) {
        await new Promise<void>((resolve) => stream.write(Buffer.alloc(50_000, index), () => resolve()));
        written += 50_000;
      }
    },
  });

  const call = server.call('flood', {}, {});
  const stream = call.readable(0);
  await vi.waitFor(() => expect(written).toBeGreaterThan(0));
  // Other calls go on beside it, so all that it could have sent has arrived.
  for (let index = 0; index < 50; index++)
    await expect(server.call('none', {}, {}).answer).rejects.toThrow('there is no method');
  expect(written).toBeLessThan(600_000);
  const got = await buffer(stream);
  expect(got.length).toBe(10_000_000);
  for (let index = 0; index < 200; index++) expect(got[index * 50_000 + 49_999]).toBe(index);
});

test('a destroyed readable drops the rest', async () => {
  const [server, runner] = connectPeers();
  runner.serve({
    async flood(_, call) {
      call.writable(0).write(Buffer.alloc(5_000_000));
      return 'all written';
    },
  });
  const call = server.call('flood', {}, {});
  call.readable(0).destroy();
  expect(await call.answer).toBe('all written');
});

test('an error arrives as it was thrown, and breaks the streams of its call', async () => {
  const [server, runner] = connectPeers();
  runner.serve({
    async fail(_, call) {
      call.writable(0).write('half');
      call.writable(1).end('whole');
      await turn();
      throw new AppError('E_STALE', 'it changed', { details: { path: 'a' } });
    },
    async bug() {
      throw new TypeError('secret host detail');
    },
  });
  const call = server.call('fail', {}, {});
  const broken = expect(text(call.readable(0))).rejects.toThrow('it changed');
  await expect(call.answer).rejects.toMatchObject({ code: 'E_STALE', message: 'it changed', details: { path: 'a' } });
  await broken;
  expect(await text(call.readable(1))).toBe('whole');
  await expect(server.call('bug', {}, {}).answer).rejects.toMatchObject({
    code: 'E_INTERNAL',
    message: 'unexpected failure',
  });
  await expect(server.call('toString', {}, {}).answer).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
});

test('a cancelled call aborts its handler, and frees its slot', async () => {
  const [server, runner] = connectPeers();
  const ended: unknown[] = [];
  runner.serve({ hang: (_, { signal }) => hang(signal, ended) });
  const controller = new AbortController();
  const call = server.call('hang', {}, { signal: controller.signal });
  const reading = expect(text(call.readable(0))).rejects.toThrow('enough');
  await turn();
  controller.abort(new Error('enough'));
  await expect(call.answer).rejects.toThrow('enough');
  await reading;
  await vi.waitFor(() => expect(ended).toMatchObject([{ code: 'E_CANCELLED' }]));

  await expect(server.call('hang', {}, { deadlineMs: 5 }).answer).rejects.toMatchObject({ code: 'E_TIMEOUT' });
  await vi.waitFor(() => expect(ended).toHaveLength(2));
  await expect(server.call('hang', {}, { signal: AbortSignal.abort(new Error('before')) }).answer).rejects.toThrow(
    'before',
  );
  await turn();
  expect(ended).toHaveLength(2);
});

function hang(signal: AbortSignal, ended: unknown[]): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => {
      ended.push(signal.reason);
      reject(signal.reason);
    });
  });
}

test('too large a message is refused where it is sent, with the next step', async () => {
  const [server, runner] = connectPeers();
  const large = 'x'.repeat(maxJsonBytes);
  runner.serve({ large: async () => large, small: async () => 'fine' });
  for (const call of [server.call('small', large, {}), server.call('large', {}, {})]) {
    await expect(call.answer).rejects.toMatchObject({
      code: 'E_TOO_LARGE',
      message: expect.stringContaining('channel'),
    });
  }
  const call = server.call('small', {}, {});
  expect(() => call.sendMessage(large)).toThrow('channel');
  expect(await call.answer).toBe('fine');
});

test('a side has a limit of open calls, and can call again when they are over', async () => {
  const [server, runner] = connectPeers();
  const incoming: ServedCall[] = [];
  const release = Promise.withResolvers<void>();
  runner.serve({ wait: (_, call) => release.promise.then(() => void incoming.push(call)), quick: async () => 1 });
  const calls = Array.from({ length: maxCalls }, () => server.call('wait', {}, {}).answer);
  await expect(server.call('quick', {}, {}).answer).rejects.toMatchObject({ code: 'E_TOO_MANY' });
  release.resolve();
  await Promise.all(calls);
  expect(incoming).toHaveLength(maxCalls);
  expect(await server.call('quick', {}, {}).answer).toBe(1);
});

test('messages wait for their listener, up to a limit', async () => {
  const [server, runner] = connectPeers();
  const ended: unknown[] = [];
  runner.serve({
    listen: async (_, call) => {
      await turn();
      const reported = Promise.withResolvers<unknown[]>();
      const seen: unknown[] = [];
      call.onMessage((message) => seen.push(message) === 3 && reported.resolve(seen));
      return reported.promise;
    },
    deaf: (_, { signal }) => hang(signal, ended),
  });
  const call = server.call('listen', {}, {});
  for (const message of [1, null, 'three']) call.sendMessage(message);
  expect(await call.answer).toEqual([1, null, 'three']);

  const flood = server.call('deaf', {}, {});
  for (let index = 0; index <= maxUnreadMessages; index++) flood.sendMessage(index);
  await expect(flood.answer).rejects.toMatchObject({ code: 'E_TOO_MANY' });
  expect(ended).toMatchObject([{ code: 'E_TOO_MANY' }]);
  expect(AppError.from(ended[0]).hint).toContain('may have run');
});

test('a listener that throws fails its own call only', async () => {
  const [server, runner] = connectPeers();
  const ended: unknown[] = [];
  runner.serve({
    chat: (_, call) => {
      call.sendMessage('not what was agreed');
      return hang(call.signal, ended);
    },
    quick: async () => 1,
  });
  const call = server.call('chat', {}, {});
  call.onMessage(() => {
    throw new AppError('E_INVALID_INPUT', 'no such message');
  });
  await expect(call.answer).rejects.toThrow('no such message');
  await vi.waitFor(() => expect(ended).toMatchObject([{ code: 'E_CANCELLED' }]));
  expect(await server.call('quick', {}, {}).answer).toBe(1);
});

test('close fails everything on both sides at once, and names what was in progress', async () => {
  const [server, runner] = connectPeers();
  const ended: unknown[] = [];
  runner.serve({ hang: (_, { signal }) => hang(signal, ended) });
  server.serve({ hang: (_, { signal }) => hang(signal, ended) });
  const calls = [server.call('hang', {}, {}), runner.call('hang', {}, {})];
  const reading = text(calls[0]!.readable(0)).catch((thrown: unknown) => thrown);
  await vi.waitFor(async () => expect(await server.call('none', {}, {}).answer.catch(() => 'asked')).toBe('asked'));
  const unsent = server.call('never', {}, {});
  server.close('it was revoked\u001b[31m');

  const lost = { code: 'E_RUNNER_LOST', details: { method: 'hang', sent: true } };
  for (const call of calls) await expect(call.answer).rejects.toMatchObject(lost);
  expect(await reading).toMatchObject(lost);
  await expect(unsent.answer).rejects.toMatchObject({
    message: expect.stringContaining('nothing of it was done'),
    hint: 'Make the call again when the runner is connected.',
    details: { method: 'never', sent: false },
  });
  await expect(calls[0]!.answer).rejects.toMatchObject({ hint: expect.stringContaining('may have run') });
  await expect(server.call('later', {}, {}).answer).rejects.toMatchObject({
    details: { method: 'later', sent: false },
  });
  expect((await runner.lost).message).toMatch(/the other side ended it: it was revoked$/);
  await server.lost;
  expect(ended).toHaveLength(2);
});
