import { createClient } from '@croft/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, adminToken, type Platform, startPlatform } from '../support/servers/platform.ts';

let platform: Platform;
let account: Account;

beforeAll(async () => {
  platform = await startPlatform();
  account = await platform.newAccount();
});

afterAll(() => platform[Symbol.asyncDispose]());

/** A workspace, an agent that has it, and what people do with its history. */
async function openWorkspace() {
  const workspaceId = await account.newWorkspace();
  const sandbox = await account.newSandbox({ permissionMode: 'bypass' });
  const agent = await account.newAgent({ sandbox, workspaces: [{ name: 'w', workspaceId }] });
  const client = createClient({ baseUrl: platform.url, token: account.secret });
  const write = (file_path: string, content: string) =>
    account.call(agent, 'bash', { command: `printf '%s' '${content}' > ${file_path}` });
  const list = async () =>
    (await account.call(agent, 'bash', { command: 'head -n9 -- * 2>/dev/null || :' })).body.output;
  return { workspaceId, agent, write, list, history: client.history(workspaceId) };
}

test('people see and restore snapshots of agents, and agents those of people', async () => {
  const { agent, write, list, history } = await openWorkspace();
  await write('a.txt', 'one');
  const made = await account.call(agent, 'snapshot_create', { name: 'by-agent' });
  expect(made.status, JSON.stringify(made.body)).toBe(200);
  await write('a.txt', 'two');
  const { snapshot, replaced } = await history.snapshots.create({ name: 'by-person', description: 'second' });
  expect({ snapshot, replaced }).toMatchObject({
    snapshot: { files: 1, bytes: 3, description: 'second' },
    replaced: false,
  });
  expect((await history.snapshots.list()).map(({ name }) => name)).toEqual(['by-person', 'by-agent']);
  expect(await history.snapshots.get('by-agent')).toMatchObject({ hash: made.body.hash, isAutomatic: false });

  const changes = await history.snapshots.diff('by-agent', { to: 'by-person' });
  expect(changes).toMatchObject([{ path: 'a.txt', before: { kind: 'file', size: 3 }, after: { size: 3 } }]);
  expect(changes[0]?.diff).toContain('-one');
  const restored = await history.snapshots.restore('by-agent');
  expect(restored).toMatchObject({ snapshot: 'by-agent', changed: ['a.txt'], paths: 1 });
  expect(await list()).toBe('one');
  const listed = await account.call(agent, 'snapshot_list');
  expect(listed.body.snapshots.map(({ name }: { name: string }) => name)).toEqual([
    restored.takenBackBy,
    'by-person',
    'by-agent',
  ]);
  await history.snapshots.remove('by-agent');
  await expect(history.snapshots.restore('by-agent')).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  await expect(history.snapshots.get('by-agent')).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  await expect(history.snapshots.create({ name: '../x' })).rejects.toMatchObject({ code: 'E_INVALID_INPUT' });
  await expect(history.snapshots.restoreGreen()).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
});

test('people undo changes of agents', async () => {
  const { write, list, history } = await openWorkspace();
  await write('a.txt', 'one');
  await write('a.txt', 'two');
  const [last] = await history.checkpoints();
  expect(last).toMatchObject({ tool: 'bash', title: "printf '%s' 'two' > a.txt", paths: 1 });
  const undone = await history.undo();
  expect(undone).toMatchObject({ undone: [{ checkpointId: last?.checkpointId }], changed: ['a.txt'] });
  expect(await list()).toBe('one');
  await history.undo({ checkpointId: undone.takenBackBy });
  expect(await list()).toBe('two');
  const [again] = await history.checkpoints(1);
  expect(again).toMatchObject({ tool: 'undo', session: expect.stringMatching(/^key key_/) });
  const { audit } = (await account.send('GET', '/v1/audit?limit=200')).body;
  const actions = audit.map(({ action }: { action: string }) => action);
  expect(actions.filter((action: string) => action === 'undo')).toHaveLength(2);
  await expect(history.undo({ checkpointId: 'cp_999999' })).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  await expect(history.undo({ calls: 1, checkpointId: 'x' })).rejects.toMatchObject({ code: 'E_INVALID_INPUT' });
});

test('no account sees the history of another, and a key is limited to its scopes', async () => {
  const { workspaceId, write, history } = await openWorkspace();
  await write('a.txt', 'one');
  await history.snapshots.create({ name: 's' });
  const other = await platform.newAccount('eve');
  const root = `/v1/workspaces/${workspaceId}`;
  const calls = [
    ['GET', '/snapshots'],
    ['POST', '/snapshots', { name: 'x' }],
    ['GET', '/snapshots/s'],
    ['DELETE', '/snapshots/s'],
    ['GET', '/snapshots/s/diff'],
    ['POST', '/snapshots/s/restore'],
    ['POST', '/restore-green'],
    ['GET', '/checkpoints'],
    ['POST', '/undo', {}],
  ] as const;
  const { secret: reader } = (await account.send('POST', '/v1/keys', { name: 'r', scopes: ['read'] })).body;
  for (const [method, path, body] of calls) {
    const stranger = await other.send(method, root + path, body);
    expect({ path, status: stranger.status }).toEqual({ path, status: 404 });
    const reading = await platform.request(reader, method, root + path, body);
    expect({ method, path, status: reading.status }).toEqual({ method, path, status: method === 'GET' ? 200 : 403 });
  }
  expect((await platform.request(adminToken, 'GET', `${root}/snapshots`)).status).toBe(400);
  expect((await history.snapshots.list()).map(({ name }) => name)).toEqual(['s']);
});
