import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { createStdioTransport } from './stdio-transport.ts';

const maxMessageBytes = 1024 * 1024;

/** Starts a server that answers each request with `bytes` of text. Returns it with what the client has read. */
async function serve({ bytes = 10, readsAnswers = true } = {}) {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const received: number[] = [];
  let [turns, answers, takenAtFirst] = [0, '', 0];
  const { transport, settled } = createStdioTransport({
    stdin,
    stdout,
    maxMessageBytes,
    intercept(message) {
      if (!('id' in message) || typeof message.id !== 'number') return false;
      const { id } = message;
      received.push(id);
      void Promise.resolve().then(() => transport.send({ jsonrpc: '2.0', id, result: { text: 'x'.repeat(bytes) } }));
      return true;
    },
  });
  const close = vi.fn();
  transport.onclose = close;
  await transport.start();
  const read = () =>
    stdout.on('data', (chunk: Buffer) => {
      turns += 1;
      takenAtFirst ||= received.length;
      answers += chunk.toString();
    });
  if (readsAnswers) read();
  const answered = () => [...answers.matchAll(/"id":(\d+)/g)].map(([, id]) => Number(id));
  return { stdin, received, close, settled, read, answered, writes: () => turns, takenAtFirst: () => takenAtFirst };
}

function requests(count: number): string {
  return ids(count)
    .map((id) => `${JSON.stringify({ jsonrpc: '2.0', id, method: 'x' })}\n`)
    .join('');
}

function ids(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

test('of many requests at once the first are answered before the last are read, all in order', async () => {
  const server = await serve();
  server.stdin.write(requests(500));
  await vi.waitFor(() => expect(server.answered()).toEqual(ids(500)));
  expect(server.received).toEqual(ids(500));
  expect(server.takenAtFirst()).toBeLessThan(100);
  expect(server.writes()).toBeLessThan(100);
});

test('all input before its end is read and answered', async () => {
  const server = await serve();
  server.stdin.end(requests(2000));
  await vi.waitFor(() => expect(server.close).toHaveBeenCalledOnce());
  expect(server.received).toEqual(ids(2000));
});

test('waiting for the answers includes those to requests that were not read yet', async () => {
  const server = await serve();
  server.stdin.write(requests(500));
  await vi.waitFor(() => expect(server.received.length).toBeGreaterThan(0));
  await server.settled(10_000);
  expect(server.answered()).toEqual(ids(500));
});

test('nothing more is read from a client that does not read, until it does', async () => {
  const server = await serve({ bytes: 1024 * 1024, readsAnswers: false });
  server.stdin.write(requests(120));
  await vi.waitFor(() => expect(server.received.length).toBeGreaterThan(8));
  for (let turn = 0; turn < 100; turn++) await setImmediate();
  expect(server.received.length).toBeLessThan(60);
  server.read();
  await vi.waitFor(() => expect(server.received).toEqual(ids(120)));
});
