import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { makeDirectory, startServer } from '../support/harness.ts';
import { adminToken } from '../support/servers/platform.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

type Server = Awaited<ReturnType<typeof startServer>>;

const patience = { timeout: 40_000, interval: 50 };
const one = makeDirectory({ 'a.txt': 'of a', 'dir/b.txt': 'of b', '.git/HEAD': 'h', 'node_modules/x.js': 'x' });
const two = makeDirectory({ 'other.txt': 'of the other' });
let server: Server;

beforeAll(async () => {
  symlinkSync('/etc/passwd', one.at('passwd'));
  const args = ['--workspaces', `one=${one.path},two=${two.path}`];
  server = await startServer(args, { env: { CROFT_ADMIN_TOKEN: adminToken } });
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  one[Symbol.dispose]();
  two[Symbol.dispose]();
});

function send(path: string, init: RequestInit = {}, { url, token }: Pick<Server, 'url' | 'token'> = server) {
  return fetch(`${url}${path}`, { ...init, headers: { authorization: `Bearer ${token}`, ...init.headers } });
}

test('lists the first workspace, or the named one', async () => {
  const tree = await (await send('/api/tree')).json();
  expect(tree.workspace).toBe('one');
  expect(tree.entries).toEqual([
    { path: 'a.txt', type: 'file', size: 4 },
    { path: 'dir', type: 'dir' },
    { path: 'dir/b.txt', type: 'file', size: 4 },
  ]);
  const other = await (await send('/api/tree?workspace=two')).json();
  expect(other.entries).toEqual([{ path: 'other.txt', type: 'file', size: 12 }]);
  const none = await send('/api/tree?workspace=three');
  expect(none.status).toBe(404);
  expect((await none.json()).error.code).toBe('E_UNKNOWN_WORKSPACE');
});

test('files can be downloaded, uploaded and deleted, within the workspace', async () => {
  const got = await send('/api/file?path=dir/b.txt', { headers: { range: 'bytes=3-' } });
  expect([got.status, await got.text()]).toEqual([206, 'b']);
  expect((await send('/api/file?path=new/c.txt', { method: 'PUT', body: 'of c' })).status).toBe(201);
  expect(readFileSync(one.at('new/c.txt'), 'utf8')).toBe('of c');
  expect((await send('/api/file?path=new&recursive=true', { method: 'DELETE' })).status).toBe(200);
  expect(existsSync(one.at('new'))).toBe(false);
  for (const path of ['passwd', '../x', '/etc/passwd', '%2e%2e/x', '']) {
    const { status } = await send(`/api/file?path=${path}`);
    expect([400, 403], path).toContain(status);
    expect([400, 403]).toContain((await send(`/api/file?path=${path}`, { method: 'PUT', body: 'x' })).status);
  }
});

test('a zip and the events of changes work too', async () => {
  const zip = Buffer.from(await (await send('/api/download')).arrayBuffer());
  using directory = makeDirectory({ 'a.zip': zip });
  const names = execFileSync('python3', ['-m', 'zipfile', '-l', directory.at('a.zip')], { encoding: 'utf8' });
  expect(names).toContain('dir/b.txt');
  expect(names).not.toMatch(/\.git|node_modules|passwd/);

  const stop = new AbortController();
  const events = await send('/api/events', { signal: stop.signal });
  let text = '';
  const reading = (async () => {
    for await (const chunk of events.body ?? []) text += Buffer.from(chunk).toString();
  })().catch(() => {});
  writeFileSync(one.at('fresh.txt'), 'x');
  mkdirSync(one.at('.git/objects'));
  await vi.waitFor(() => expect(text).toContain('"type":"create","path":"fresh.txt"'), patience);
  expect(text).not.toContain('.git');
  stop.abort();
  await reading;
});

test('nobody gets access without the token: not without one, not with another, not with the admin token', async () => {
  for (const path of ['tree', 'file?path=a.txt', 'download', 'events']) {
    expect((await fetch(`${server.url}/api/${path}`)).status).toBe(401);
    expect((await fetch(`${server.url}/api/${path}`, { headers: { authorization: 'Bearer x' } })).status).toBe(401);
    const headers = { authorization: `Bearer ${adminToken}` };
    expect((await fetch(`${server.url}/api/${path}`, { headers })).status).toBe(404);
    expect((await send(`/api/${path}`, { headers: { origin: 'https://evil.example' } })).status).toBe(403);
  }
});

test.each([
  [['--readonly'], 'E_READ_ONLY'],
  [['--permission-mode', 'ask'], 'E_FORBIDDEN'],
])('nothing is changed with %j', async (args, code) => {
  await using other = await startServer(['--workspace', two.path, ...args]);
  for (const init of [{ method: 'PUT', body: 'x' }, { method: 'DELETE' }]) {
    const answer = await send('/api/file?path=other.txt', init, other);
    expect(answer.status).toBe(403);
    expect((await answer.json()).error.code).toBe(code);
  }
  expect(await (await send('/api/file?path=other.txt', {}, other)).text()).toBe('of the other');
});

test('accounts of a real server have files too, which their agents see', async () => {
  const call = async (token: string, method: string, path: string, body?: unknown) => {
    const answer = await fetch(server.url + path, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return answer.json();
  };
  const { secret } = await call(adminToken, 'POST', '/accounts', { username: 'ann' });
  const { workspaceId } = await call(secret, 'POST', '/v1/workspaces', { name: 'w' });
  const config = { workspaces: [{ name: 'main', workspaceId }] };
  const { agentId } = await call(secret, 'POST', '/v1/agents', { name: 'a', config });
  const root = `/v1/workspaces/${workspaceId}`;
  expect(await call(secret, 'PUT', `${root}/file?path=note.txt`, 'put over REST')).toMatchObject({ sizeBytes: 13 });
  const read = await call(secret, 'POST', `/v1/agents/${agentId}/tools/read`, { file_path: 'note.txt' });
  expect(JSON.stringify(read)).toContain('put over REST');
  const { url } = await call(secret, 'POST', `${root}/links`, { path: 'note.txt' });
  expect(await (await fetch(url)).text()).toBe('put over REST');
});
