import { text } from 'node:stream/consumers';
import type { ReadableStream } from 'node:stream/web';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { ToolResult } from '../../src/core/tools/tool.ts';
import { createFastLane } from '../../src/mcp/fast-lane.ts';
import { answerOnFastLane } from '../../src/mcp/http/http-fast-lane.ts';
import { makeDirectory, startServer } from '../support/harness.ts';

const directory = makeDirectory({ 'a.txt': 'one\n' });
const read = toCall(1, 'read', { file_path: 'a.txt' });
let server: Awaited<ReturnType<typeof startServer>>;

beforeAll(async () => {
  server = await startServer(['--workspace', directory.path]);
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  directory[Symbol.dispose]();
});

test('a call is answered as JSON, whatever the client sends in _meta', async () => {
  const session = await shakeHands();
  const answer = await session.post({ ...read, params: { ...read.params, _meta: { progressToken: 7 } } });
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  expect(await answer.json()).toMatchObject({ jsonrpc: '2.0', id: 1, result: { content: [{ text: '1\tone\n' }] } });
});

test.each([
  ['takes no JSON', 406, { accept: 'text/event-stream' }, read],
  ['takes no stream', 406, { accept: 'application/json' }, read],
  ['sends something else', 415, { 'content-type': 'text/plain' }, read],
  ['speaks a version that nobody does', 400, { 'mcp-protocol-version': '2024-01-01' }, read],
  ['says it is of another era', 400, { 'mcp-protocol-version': '2026-07-28' }, read],
  ['does not speak JSON-RPC', 400, {}, { ...read, jsonrpc: '1.0' }],
])('a client that %s is refused', async (_, status, headers, body) => {
  const session = await shakeHands();
  expect((await session.post(body, headers)).status).toBe(status);
});

test('a cancelled call ends without an answer', async () => {
  const session = await shakeHands();
  const call = session.post(toCall('slow', 'bash', { command: 'touch begun; sleep 600' }));
  await vi.waitFor(async () =>
    expect(await (await session.post(toCall(2, 'glob', { pattern: 'begun' }))).text()).toContain('"begun'),
  );
  const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'slow' } };
  expect((await session.post(cancelled)).status).toBe(202);
  expect(await (await call).text()).toBe('');
});

test('a long call is answered on a stream that is kept alive', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval'] });
  try {
    const { promise, resolve } = Promise.withResolvers<ToolResult>();
    const lane = createFastLane({ toolbox: { call: () => promise, mayAsk: () => false }, session: () => 'one' });
    lane.take({ jsonrpc: '2.0', method: 'notifications/initialized' }, { send() {}, notify() {}, handOver() {} });
    const request = new Request('http://croft/mcp', { method: 'POST', headers: plainHeaders });
    const answer = answerOnFastLane(lane, request, read, async () => new Response());
    await vi.advanceTimersByTimeAsync(6000);
    const response = await answer;
    expect(response?.headers.get('content-type')).toBe('text/event-stream');
    await vi.advanceTimersByTimeAsync(20_000);
    resolve({ text: 'done', structured: {} });
    const sent = await text(response?.body as ReadableStream);
    expect(sent).toMatch(/^: keepalive\n\nevent: message\ndata: \{.*"text":"done".*\}\n\n$/);
  } finally {
    vi.useRealTimers();
  }
});

const plainHeaders = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

function toCall(id: number | string, name: string, args: object) {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } };
}

async function shakeHands() {
  const send = (body: unknown, headers: Record<string, string>) =>
    fetch(`${server.url}/mcp`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.token}`, ...plainHeaders, ...headers },
      body: JSON.stringify(body),
    });
  const clientInfo = { name: 'test', version: '1.0.0' };
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  const hello = await send({ jsonrpc: '2.0', id: 0, method: 'initialize', params }, {});
  const named = { 'mcp-session-id': String(hello.headers.get('mcp-session-id')) };
  await send({ jsonrpc: '2.0', method: 'notifications/initialized' }, named);
  return { post: (body: unknown, headers = {}) => send(body, { ...named, ...headers }) };
}
