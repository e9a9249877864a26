import { readFileSync, writeFileSync } from 'node:fs';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectHttp, connectStdio, eras, type McpSession, makeDirectory, startServer } from '../support/harness.ts';

const notRead = { isError: true, _meta: { 'croft/error': { code: 'E_NOT_READ' } } };
const edited = { structuredContent: { replaced: 1 } };

const directory = makeDirectory();
let server: Awaited<ReturnType<typeof startServer>>;

beforeAll(async () => {
  server = await startServer(['--workspace', directory.path]);
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  directory[Symbol.dispose]();
});

describe('over HTTP in 2025', () => {
  test('what one client read does not unlock an edit by another', async () => {
    const file = newFile();
    await using one = await connectHttp(server, { era: '2025' });
    await using other = await connectHttp(server, { era: '2025' });
    expect(sessionIdOf(one)).not.toBe(sessionIdOf(other));
    await call(one, 'read', file.path);
    expect(await call(other, 'edit', file.edit)).toMatchObject(notRead);
    expect(file.content()).toBe('one\n');
    expect(await call(one, 'edit', file.edit)).toMatchObject(edited);
    expect(file.content()).toBe('two\n');
  });

  test('what one client changed is stale for another that had read it', async () => {
    const file = newFile();
    await using one = await connectHttp(server, { era: '2025' });
    await using other = await connectHttp(server, { era: '2025' });
    await call(one, 'read', file.path);
    await call(other, 'read', file.path);
    await call(one, 'edit', file.edit);
    expect(await call(other, 'edit', { ...file.edit, old_string: 'two' })).toMatchObject({
      _meta: { 'croft/error': { code: 'E_STALE' } },
    });
  });

  test('DELETE ends the session and forgets its reads', async () => {
    const file = newFile();
    await using one = await connectHttp(server, { era: '2025' });
    const id = sessionIdOf(one);
    await call(one, 'read', file.path);
    await (one.transport as StreamableHTTPClientTransport).terminateSession();

    expect((await post({ 'mcp-session-id': id }, toolCall('edit', file.edit))).status).toBe(404);
    await using thief = await connectHttp(server, { era: '2026' });
    expect(await call(thief, 'edit', file.edit, { 'croft/session': id })).toMatchObject(notRead);
    expect(file.content()).toBe('one\n');
  });

  test.each(['POST', 'GET', 'DELETE'])('%s with an unknown session id is answered with 404', async (method) => {
    const response = await fetch(`${server.url}/mcp`, {
      method,
      headers: { ...headers(), 'mcp-session-id': crypto.randomUUID() },
      ...(method === 'POST' && { body: JSON.stringify(toolCall('list', {})) }),
    });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error: { code: expect.any(Number) } });
  });

  test('a client whose session is gone shakes hands again and goes on, without any file read', async () => {
    const file = newFile();
    await using one = await connectHttp(server, { era: '2025' });
    await call(one, 'read', file.path);
    await post({ 'mcp-session-id': sessionIdOf(one) }, undefined, 'DELETE');
    await expect(call(one, 'read', file.path)).rejects.toThrow(/404|[Ss]ession/);

    await using again = await connectHttp(server, { era: '2025' });
    expect(await call(again, 'edit', file.edit)).toMatchObject(notRead);
    await call(again, 'read', file.path);
    expect(await call(again, 'edit', file.edit)).toMatchObject(edited);
  });

  test('a call without a handshake and without a session id uses the default session', async () => {
    const file = newFile();
    await using named = await connectHttp(server, { era: '2025' });
    await call(named, 'read', file.path);
    expect(await resultOf(await post({}, toolCall('edit', file.edit)))).toMatchObject(notRead);

    await using stateless = await connectHttp(server, { era: '2026' });
    await call(stateless, 'read', file.path);
    expect(await resultOf(await post({}, toolCall('edit', file.edit)))).toMatchObject(edited);
  });

  test('the header Croft-Session does not share reads with calls without it, before a handshake', async () => {
    const file = newFile();
    await post({ 'croft-session': 'plain' }, toolCall('read', { file_path: file.name }));
    expect(await resultOf(await post({}, toolCall('edit', file.edit)))).toMatchObject(notRead);
    const answer = await post({ 'croft-session': 'plain' }, toolCall('edit', file.edit));
    expect(await resultOf(answer)).toMatchObject(edited);
  });
});

describe('over HTTP in 2026', () => {
  test('connections without a session name share the default session', async () => {
    const file = newFile();
    await using one = await connectHttp(server);
    await using other = await connectHttp(server);
    await call(one, 'read', file.path);
    expect(await call(other, 'edit', file.edit)).toMatchObject(edited);
  });

  test('a session is named by croft/session in _meta', async () => {
    const file = newFile();
    await using client = await connectHttp(server);
    await call(client, 'read', file.path, { 'croft/session': 'ann' });
    expect(await call(client, 'edit', file.edit)).toMatchObject(notRead);
    expect(await call(client, 'edit', file.edit, { 'croft/session': 'bob' })).toMatchObject(notRead);
    expect(await call(client, 'edit', file.edit, { 'croft/session': 'Ann' })).toMatchObject(notRead);
    await using other = await connectHttp(server);
    expect(await call(other, 'edit', file.edit, { 'croft/session': 'ann' })).toMatchObject(edited);
  });

  test('a session is named by the header Croft-Session', async () => {
    const file = newFile();
    await using carol = await connectHttp(server, { headers: { 'Croft-Session': 'carol' } });
    await using dave = await connectHttp(server, { headers: { 'Croft-Session': 'dave' } });
    await using nobody = await connectHttp(server);
    await call(carol, 'read', file.path);
    expect(await call(dave, 'edit', file.edit)).toMatchObject(notRead);
    expect(await call(nobody, 'edit', file.edit)).toMatchObject(notRead);
    expect(await call(carol, 'edit', file.edit)).toMatchObject(edited);
  });

  test('a session is named by the header Mcp-Session-Id', async () => {
    const file = newFile();
    await using erin = await connectHttp(server, { headers: { 'Mcp-Session-Id': 'erin' } });
    await using frank = await connectHttp(server, { headers: { 'Mcp-Session-Id': 'frank' } });
    await using nobody = await connectHttp(server);
    await call(erin, 'read', file.path);
    expect(await call(nobody, 'edit', file.edit)).toMatchObject(notRead);
    expect(await call(frank, 'edit', file.edit)).toMatchObject(notRead);
    expect(await call(erin, 'edit', file.edit)).toMatchObject(edited);
  });

  test.each(['Croft-Session', 'Mcp-Session-Id'])('different names in _meta and in %s are an error', async (header) => {
    const file = newFile();
    await using client = await connectHttp(server, { headers: { [header]: 'of-the-header' } });
    await call(client, 'read', file.path);
    const two = call(client, 'edit', file.edit, { 'croft/session': 'of-the-call' });
    await expect(two).rejects.toThrow('name one session');
    expect(file.content()).toBe('one\n');
    expect(await call(client, 'edit', file.edit, { 'croft/session': 'of-the-header' })).toMatchObject(edited);
  });

  test.each([
    ['long', 'x'.repeat(200), 'y'.repeat(200)],
    ['with spaces', 'first agent', 'second agent'],
    ['in other letters', 'агент', 'αντιπρόσωπος'],
    ['that are numbers', 1, 2],
  ])('different names %s do not share reads', async (_, first, second) => {
    const file = newFile();
    await using client = await connectHttp(server);
    await call(client, 'read', file.path, { 'croft/session': first }).catch(() => {});
    const answer = await call(client, 'edit', file.edit, { 'croft/session': second }).catch(() => ({ isError: true }));
    expect(answer).toMatchObject({ isError: true });
    expect(file.content()).toBe('one\n');
  });

  test('sessions of 2025 do not share reads with the default session', async () => {
    const file = newFile();
    await using old = await connectHttp(server, { era: '2025' });
    await using modern = await connectHttp(server, { era: '2026' });
    await call(old, 'read', file.path);
    expect(await call(modern, 'edit', file.edit)).toMatchObject(notRead);
    await call(modern, 'read', file.path);
    expect(await call(modern, 'edit', file.edit)).toMatchObject(edited);
  });
});

describe.each(eras)('over stdio in %s', (era) => {
  test('a connection is a session, and its calls cannot name another', async () => {
    const file = newFile();
    await using one = await connectStdio(['--workspace', directory.path], { era });
    await using other = await connectStdio(['--workspace', directory.path], { era });
    await call(one, 'read', file.path);
    expect(await call(other, 'edit', file.edit)).toMatchObject(notRead);
    const named = await call(one, 'edit', file.edit, { 'croft/session': 'ann' });
    expect(named).toMatchObject({ isError: true, _meta: { 'croft/error': { code: 'E_INVALID_INPUT' } } });
    expect(await call(one, 'edit', file.edit)).toMatchObject(edited);
  });
});

let made = 0;

/** A file for one test, because the server and its default session are shared. */
function newFile() {
  made += 1;
  const name = `file-${made}.txt`;
  writeFileSync(directory.at(name), 'one\n');
  return {
    name,
    path: { file_path: name },
    edit: { file_path: name, old_string: 'one', new_string: 'two' },
    content: () => readFileSync(directory.at(name), 'utf8'),
  };
}

async function call({ client }: McpSession, name: string, args: Record<string, unknown>, meta = {}) {
  return client.callTool({ name, arguments: args, _meta: meta });
}

function sessionIdOf({ transport }: McpSession): string {
  const id = transport instanceof StreamableHTTPClientTransport ? transport.sessionId : undefined;
  if (id === undefined) throw new Error('the server gave no session id');
  return id;
}

function toolCall(name: string, args: Record<string, unknown>) {
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
}

function headers() {
  return {
    authorization: `Bearer ${server.token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2025-06-18',
  };
}

function post(more: Record<string, string>, message: object | undefined, method = 'POST'): Promise<Response> {
  const body = message === undefined ? {} : { body: JSON.stringify(message) };
  return fetch(`${server.url}/mcp`, { method, headers: { ...headers(), ...more }, ...body });
}

/** The result in an answer that is JSON or an event stream of one message. */
async function resultOf(response: Response): Promise<unknown> {
  const body = await response.text();
  const json = /^data: (\{.*)$/m.exec(body)?.[1] ?? body;
  return JSON.parse(json).result;
}
