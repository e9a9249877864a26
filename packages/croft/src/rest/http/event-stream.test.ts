import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { OutputReceiver } from '../../core/calls/stream-output.ts';
import { toEventStream } from './event-stream.ts';
import { streamRunningCall } from './stream-running-call.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const never = new AbortController().signal;

/** A feed that a test fills. */
function openFeed() {
  const waiting: string[] = [];
  let bell = Promise.withResolvers<void>();
  return {
    waiting,
    put(text: string): void {
      waiting.push(text);
      bell.resolve();
      bell = Promise.withResolvers();
    },
    take: () => waiting.shift(),
    more: () => bell.promise,
  };
}

function openStream(options: { isStillAllowed?: () => Promise<boolean>; ping?: () => string } = {}) {
  const feed = openFeed();
  const onEnd = vi.fn();
  const { isStillAllowed = async () => true, ping } = options;
  const response = toEventStream({ feed: { ...feed, ...(ping && { ping }) }, isStillAllowed, onEnd, signal: never });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const read = async () => Buffer.from((await reader.read()).value ?? []).toString();
  return { feed, onEnd, reader, read };
}

test('a quiet stream has a ping within 20 seconds, each with the position that it has reached', async () => {
  let position = 7;
  const { read, reader } = openStream({ ping: () => `id: ${position}\n: ping\n\n` });
  expect(await read()).toContain('retry: 2000');
  for (position of [8, 9]) {
    const text = read();
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await text).toBe(`id: ${position}\n: ping\n\n`);
  }
  await reader.cancel();
  expect(vi.getTimerCount()).toBe(0);
});

test('a client that reads nothing for a minute is disconnected, and until then only one piece is taken for it', async () => {
  const { feed, onEnd, read } = openStream();
  expect(await read()).toContain('retry');
  for (let count = 0; count < 1000; count++) feed.put(`data: ${count}\n\n`);
  await vi.advanceTimersByTimeAsync(55_000);
  expect([feed.waiting.length, onEnd.mock.calls.length]).toEqual([999, 0]);
  await vi.advanceTimersByTimeAsync(15_000);
  expect([feed.waiting.length, onEnd.mock.calls.length]).toEqual([999, 1]);
  // What was buffered still arrives, and then the end: the client comes back and continues.
  expect([await read(), await read()]).toEqual(['data: 0\n\n', '']);
});

test('a slow client that reads at times stays', async () => {
  const { feed, onEnd, read } = openStream();
  await read();
  for (let count = 0; count < 10; count++) {
    feed.put(`data: ${count}\n\n`);
    await vi.advanceTimersByTimeAsync(50_000);
    expect(await read()).toBe(`data: ${count}\n\n`);
  }
  expect(onEnd).not.toHaveBeenCalled();
});

test('a client that has lost its access is disconnected at the next beat, and one beat without records harms nobody', async () => {
  let allowed = async () => true;
  const { onEnd, read } = openStream({ isStillAllowed: () => allowed() });
  await read();
  allowed = () => Promise.reject(new Error('the records do not answer'));
  await vi.advanceTimersByTimeAsync(5000);
  expect(onEnd).not.toHaveBeenCalled();
  allowed = async () => false;
  await vi.advanceTimersByTimeAsync(5000);
  expect(onEnd).toHaveBeenCalledOnce();
});

test('a call that prints nothing for half a minute is answered with a stream, pings, and its result', async () => {
  const call = Promise.withResolvers<string>();
  const answer = streamRunningCall({
    form: 'text',
    run: () => call.promise,
    toResult: (text) => ({ text }),
    isStillAllowed: async () => true,
    signal: never,
  });
  await vi.advanceTimersByTimeAsync(30_000);
  const reader = ((await answer) as Response).body?.getReader();
  const read = async () => Buffer.from((await reader?.read())?.value ?? []).toString();
  expect(await read()).toContain('retry');
  for (let minutes = 0; minutes < 10; minutes++) {
    const ping = read();
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await ping).toBe(': ping\n\n');
  }
  call.resolve('done');
  // A ping may be on its way already.
  const last = [await read(), await read()].find((text) => text !== ': ping\n\n');
  expect(last).toBe('data: {"type":"result","result":{"text":"done"}}\n\n');
  expect(await read()).toBe('');
});

test('a call that fails or ends sooner is answered by itself, and leaves no timer', async () => {
  const follow = (run: (onOutput: OutputReceiver) => Promise<string>) =>
    streamRunningCall({
      form: 'text',
      run,
      toResult: (text) => ({ text }),
      isStillAllowed: async () => true,
      signal: never,
    });
  await expect(follow(() => Promise.reject(new Error('of the call')))).rejects.toThrow('of the call');
  expect(await follow(async () => 'done')).toBe('done');
  expect(vi.getTimerCount()).toBe(0);
});
