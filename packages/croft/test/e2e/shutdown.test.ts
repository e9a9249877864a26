import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Client } from '@modelcontextprotocol/client';
import { describe, expect, test, vi } from 'vitest';
import { collect, connectHttp, croft, eras, makeDirectory, startServer } from '../support/harness.ts';
import { connectChild, makeBlockedSearch } from './blocked-search.ts';

const signals = ['SIGTERM', 'SIGINT'] as const;
const cases = eras.flatMap((era) => signals.map((signal) => [signal, era] as const));

/** An answer of more than what a pipe or a socket holds. */
const lines = 5000;
const grep = { name: 'grep', arguments: { pattern: 'hello', head_limit: lines } };

describe.concurrent('croft serve', () => {
  test.each(cases)('at %s lets a call of %s finish and answers it', async (signal, era) => {
    using directory = makeTree();
    await using server = await startServer(directory.flags);
    await using session = await connectHttp(server, { era });
    const call = startSearch(session.client);
    await directory.searching();
    const exited = once(server.child, 'exit');
    server.child.kill(signal);
    await vi.waitFor(async () => expect(await canConnect(server.url)).toBe(false));
    expect(directory.names()).not.toContain('lifecycle.tool.result');
    directory.release();
    await expectWhole(call);
    expect(await exited).toEqual([0, null]);
    expect(directory.names().slice(-2)).toEqual(['lifecycle.tool.result', 'lifecycle.stop']);
  });

  // At a Ctrl-C the terminal tells the server, and so does the npm that started it.
  test.each(signals)('at a second %s right after the first still lets a call finish', async (signal) => {
    using directory = makeTree();
    await using server = await startServer(directory.flags);
    await using session = await connectHttp(server);
    const call = startSearch(session.client);
    await directory.searching();
    const exited = once(server.child, 'exit');
    server.child.kill(signal);
    await vi.waitFor(async () => expect(await canConnect(server.url)).toBe(false));
    server.child.kill(signal);
    directory.release();
    await expectWhole(call);
    expect(await exited).toEqual([0, null]);
    expect(directory.names().at(-1)).toBe('lifecycle.stop');
  });

  test('at repeated SIGINT ends at once', async () => {
    using directory = makeTree();
    await using server = await startServer(directory.flags);
    await using session = await connectHttp(server);
    void startSearch(session.client).catch(() => {});
    await directory.searching();
    const exited = once(server.child, 'exit');
    const asking = setInterval(() => server.child.kill('SIGINT'), 200);
    expect(await exited).toEqual([null, 'SIGINT']);
    clearInterval(asking);
  });

  test('refuses new calls while it lets the others finish', async () => {
    using directory = makeTree();
    await using server = await startServer(directory.flags);
    await using session = await connectHttp(server, { era: '2025' });
    const late = connect(Number(new URL(server.url).port), '127.0.0.1');
    await once(late, 'connect');
    late.write('POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n');
    const call = startSearch(session.client);
    await directory.searching();
    server.child.kill('SIGTERM');
    await vi.waitFor(async () => expect(await canConnect(server.url)).toBe(false));

    await expect(session.call('list')).rejects.toThrow();
    late.write(`Authorization: Bearer ${server.token}\r\nContent-Type: application/json\r\nContent-Length: 0\r\n\r\n`);
    const answer = await text(late);
    expect(answer).toMatch(/^HTTP\/1\.1 503 /);
    expect(answer).toContain('"E_STOPPING"');
    directory.release();
    await expectWhole(call);
  });

  test.each(signals)('at %s exits although an idle client of 2025 holds a stream open', async (signal) => {
    using directory = makeTree();
    await using server = await startServer(directory.flags);
    await using session = await connectHttp(server, { era: '2025' });
    await session.client.ping();
    const { ended } = await openStream(server);
    const exited = once(server.child, 'exit');
    server.child.kill(signal);
    expect(await exited).toEqual([0, null]);
    await ended;
    expect(directory.names().at(-1)).toBe('lifecycle.stop');
  });

  test('exits although a client has sent half a request', async () => {
    using directory = makeTree();
    await using server = await startServer(directory.flags);
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1').on('error', () => {});
    await once(socket, 'connect');
    const headers = [`Authorization: Bearer ${server.token}`, 'Content-Length: 100', 'Expect: 100-continue'];
    socket.write(`POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers.join('\r\n')}\r\n\r\n`);
    expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 100 /);
    socket.write('{"jsonrpc"');
    const exited = once(server.child, 'exit');
    server.child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
    socket.destroy();
  });

  test('cancels a call that outlasts the wait, reports it and exits', async () => {
    using directory = makeTree();
    await using server = await startServer(directory.flags);
    await using session = await connectHttp(server);
    const call = session.client.callTool(grep);
    await directory.searching();
    const exited = once(server.child, 'exit');
    server.child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
    expect(await call).toMatchObject({ isError: true, _meta: { 'croft/error': { code: 'E_CANCELLED' } } });
    expect(directory.events().slice(-2)).toMatchObject([
      { event: 'lifecycle.tool.result', fields: { code: 'E_CANCELLED' } },
      { event: 'lifecycle.stop' },
    ]);
  });
});

describe.concurrent('croft mcp', () => {
  test.each(cases)('at %s lets a call of %s finish and answers it', async (signal, era) => {
    using directory = makeTree();
    await using session = await connectChild(directory.flags, era);
    const call = startSearch(session.client);
    await directory.searching();
    const exited = once(session.child, 'exit');
    session.child.kill(signal);
    // Answered or refused: by then the server has seen the signal.
    for (const _ of [1, 2]) await session.client.callTool({ name: 'list' });
    expect(session.child.exitCode).toBeNull();
    directory.release();
    await expectWhole(call);
    expect(await exited).toEqual([0, null]);
    expect(directory.names().slice(-2)).toEqual(['lifecycle.tool.result', 'lifecycle.stop']);
  });

  test.each(eras)('refuses new calls of %s while it lets the others finish', async (era) => {
    using directory = makeTree();
    await using session = await connectChild(directory.flags, era);
    const call = startSearch(session.client);
    await directory.searching();
    session.child.kill('SIGTERM');
    const refusal = { isError: true, _meta: { 'croft/error': { code: 'E_STOPPING' } } };
    await vi.waitFor(async () => expect(await session.client.callTool({ name: 'list' })).toMatchObject(refusal));
    directory.release();
    await expectWhole(call);
  });

  test.each(signals)('at %s exits when no call is in progress, with its input still open', async (signal) => {
    using directory = makeTree();
    await using session = await connectChild(directory.flags, '2025');
    const exited = once(session.child, 'exit');
    session.child.kill(signal);
    expect(await exited).toEqual([0, null]);
    expect(directory.names().at(-1)).toBe('lifecycle.stop');
  });

  test('exits when its input ends before any message', async () => {
    using directory = makeTree();
    const child = spawn(croft, ['mcp', ...directory.flags], { stdio: ['pipe', 'ignore', 'ignore'] });
    child.stdin.end();
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});

test('a signal that stops `npm start` stops the server too', async () => {
  using data = makeDirectory();
  const args = ['start', '--', '--port', '0', '--data', data.path];
  const npm = spawn('npm', args, { cwd: join(import.meta.dirname, '../../../..'), stdio: ['ignore', 'pipe', 'pipe'] });
  const url = await collect(npm).find(/croft listening on (\S+)/);
  npm.kill('SIGTERM');
  expect(await once(npm, 'exit')).toEqual([0, null]);
  expect(await canConnect(url)).toBe(false);
});

/** A failure counts where the answer is looked at, not before. */
function startSearch(client: Client) {
  const call = client.callTool(grep);
  call.catch(() => {});
  return call;
}

async function expectWhole(call: ReturnType<typeof startSearch>): Promise<void> {
  const { content } = (await call) as { content: { text: string }[] };
  expect(content[0]?.text).toMatch(new RegExp(`^\\S+:1:hello.*left out here.*:${lines}:hello[.]+\n$`, 's'));
}

/** A workspace in which a search lasts until the test lets it go on: `.gitignore`, which ripgrep reads first, is a pipe. */
function makeTree() {
  const held = makeBlockedSearch(`${'hello'.padEnd(100, '.')}\n`.repeat(lines));
  return { ...held, names: () => held.events().map(({ event }) => event) };
}

function canConnect(url: string): Promise<boolean> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const { promise, resolve } = Promise.withResolvers<boolean>();
  socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  return promise.finally(() => socket.destroy());
}

/** The stream of a session of its own, over which a server of 2025 may speak first. */
async function openStream({ url, token }: { url: string; token: string }) {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
  const hello = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
  const handshake = await fetch(`${url}/mcp`, { method: 'POST', headers, body: hello });
  await handshake.text();
  const id = handshake.headers.get('mcp-session-id') ?? '';
  const stream = await fetch(`${url}/mcp`, { headers: { ...headers, 'mcp-session-id': id } });
  expect(stream.status).toBe(200);
  return { ended: stream.text().catch(() => 'broken') };
}
