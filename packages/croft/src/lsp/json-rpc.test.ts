import { PassThrough } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { createFrameReader, toFrame } from './frame-reader.ts';
import { connectJsonRpc } from './json-rpc.ts';
import { RequestTimeoutError, ResponseError, ServerGoneError } from './server-errors.ts';

const never = new AbortController().signal;

/** A connection whose other side the test plays. */
function connect() {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const sent: Record<string, unknown>[] = [];
  const read = createFrameReader({ onFrame: (body) => void sent.push(JSON.parse(body.toString())), onFault() {} });
  stdin.on('data', read);
  const onEnd = vi.fn();
  const rpc = connectJsonRpc(
    { stdin, stdout },
    {
      onNotification() {},
      onRequest(method) {
        if (method === 'unknown') throw new Error('unknown');
        return { method };
      },
      onEnd,
    },
  );
  return { rpc, sent, onEnd, stdout, say: (message: unknown) => stdout.write(toFrame(message)) };
}

test('a request that times out is cancelled at the server, and its late answer is dropped', async () => {
  const { rpc, sent, say } = connect();
  await expect(rpc.request('slow', {}, { signal: never, timeoutMs: 20 })).rejects.toThrow(RequestTimeoutError);
  await vi.waitFor(() =>
    expect(sent).toMatchObject([
      { id: 1, method: 'slow' },
      { method: '$/cancelRequest', params: { id: 1 } },
    ]),
  );
  say({ jsonrpc: '2.0', id: 1, result: 'late' });
  const next = rpc.request('next', {}, { signal: never, timeoutMs: 1000 });
  say({ jsonrpc: '2.0', id: 2, result: 'right' });
  expect(await next).toBe('right');
});

test('a request that its caller aborts is cancelled', async () => {
  const { rpc, sent } = connect();
  const abort = new AbortController();
  const asked = rpc.request('slow', {}, { signal: abort.signal, timeoutMs: 1000 });
  abort.abort(new Error('enough'));
  await expect(asked).rejects.toThrow('enough');
  await vi.waitFor(() => expect(sent.at(-1)).toMatchObject({ method: '$/cancelRequest' }));
});

test('errors of the server, and its end, reach the waiting callers', async () => {
  const { rpc, say, stdout, onEnd } = connect();
  const [refused, lost] = ['a', 'b'].map((method) => rpc.request(method, {}, { signal: never, timeoutMs: 1000 }));
  say({ jsonrpc: '2.0', id: 1, error: { code: -32801, message: 'changed' } });
  await expect(refused).rejects.toThrow(ResponseError);
  stdout.end();
  await expect(lost).rejects.toThrow(ServerGoneError);
  expect(onEnd).toHaveBeenCalledOnce();
  await expect(rpc.request('c', {}, { signal: never, timeoutMs: 1000 })).rejects.toThrow(ServerGoneError);
});

test('every request of the server gets an answer, whatever the type of its id', async () => {
  const { sent, say } = connect();
  say({ jsonrpc: '2.0', id: 'ts1', method: 'known' });
  say({ jsonrpc: '2.0', id: 7, method: 'unknown' });
  await vi.waitFor(() => expect(sent).toHaveLength(2));
  expect(sent).toMatchObject([
    { id: 'ts1', result: { method: 'known' } },
    { id: 7, error: { code: -32601 } },
  ]);
});

test.each(['[]', '1', '{', ''])('the message %j ends the connection', async (body) => {
  const { stdout, onEnd } = connect();
  stdout.write(`Content-Length: ${body.length}\r\n\r\n${body}`);
  await vi.waitFor(() => expect(onEnd).toHaveBeenCalledWith('it sent a message that is no JSON object'));
});
