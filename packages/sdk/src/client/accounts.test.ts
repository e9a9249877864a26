import { afterAll, beforeAll, expect, test } from 'vitest';
import { adminToken, openFixture, type RestFixture } from '../../../croft/test/rest/fixture.ts';
import { type Client, createClient } from './create-client.ts';

let fixture: RestFixture;
let admin: Client;
let client: Client;
let accountId: string;

beforeAll(async () => {
  fixture = await openFixture();
  admin = createClient({ baseUrl: fixture.url, token: adminToken });
  const { account, secret } = await admin.accounts.create({ username: 'ann' }, { idempotencyKey: 'ann' });
  ({ accountId } = account);
  client = createClient({ baseUrl: fixture.url, token: secret });
});

afterAll(() => fixture[Symbol.asyncDispose]());

async function toArray<Row>(rows: AsyncIterable<Row>): Promise<Row[]> {
  return Array.fromAsync(rows);
}

test('creates, shows, lists, changes and deletes records', async () => {
  const box = await client.sandboxes.create({ name: 'box', config: { permissionMode: 'edit' } });
  const files = await client.workspaces.create({ name: 'files' });
  const workspaces = [{ name: 'main', workspaceId: files.workspaceId }];
  const made = await client.agents.create({ name: 'worker', config: { sandbox: box.sandboxId, workspaces } });
  const agent = await client.agents.get(made.agentId);
  expect(agent.config).toMatchObject({ sandbox: box.sandboxId, workspaces });
  expect((await client.agents.list()).rows).toEqual([agent]);

  const changed = await client.sandboxes.patch(box.sandboxId, { config: { timeout: 60 } }, { version: box.version });
  expect(changed).toMatchObject({ version: 2, config: { timeout: 60, permissionMode: 'edit' } });
  const late = client.sandboxes.patch(box.sandboxId, { name: 'late' }, { version: box.version });
  await expect(late).rejects.toMatchObject({ code: 'E_PRECONDITION_FAILED' });
  await expect(client.sandboxes.remove(box.sandboxId)).rejects.toMatchObject({ code: 'E_IN_USE' });

  await client.agents.remove(made.agentId);
  await client.sandboxes.remove(box.sandboxId, { version: 2 });
  await client.workspaces.remove(files.workspaceId);
  await expect(client.sandboxes.get(box.sandboxId)).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
});

test('creates one record for two requests with one key', async () => {
  const make = () => client.keys.create({ name: 'spare', scopes: ['read'] }, { idempotencyKey: 'spare' });
  const [first, again] = [await make(), await make()];
  expect(again).toEqual(first);
  const reader = createClient({ baseUrl: fixture.url, token: first.secret });
  expect(await reader.account.get()).toMatchObject({ accountId, username: 'ann' });
  await expect(reader.sandboxes.create({ name: 'x' })).rejects.toMatchObject({ code: 'E_FORBIDDEN' });
  await client.keys.revoke(first.key.keyId);
  await expect(reader.account.get()).rejects.toMatchObject({ code: 'E_UNAUTHORIZED' });
});

test('reads lists of several pages to their end', async () => {
  const names = Array.from({ length: 230 }, (_, index) => `workspace ${index}`);
  for (const name of names) await client.workspaces.create({ name });
  expect((await toArray(client.workspaces.all())).map(({ name }) => name)).toEqual(names);
  const audit = await toArray(client.audit.all());
  expect(audit.filter(({ action }) => action === 'workspace.created').length).toBeGreaterThanOrEqual(names.length);
});

test('calls a tool, and again after an approval', async () => {
  const { agentId } = await client.agents.create({ name: 'caller' });
  const agent = client.agent(agentId, { session: 'a/b' });
  expect((await agent.tools()).map(({ name }) => name)).toContain('ask');
  expect(await agent.call('echo', { n: 1 })).toEqual({ result: { session: 'a/b', input: { n: 1 } } });

  const { approval } = await agent.call('ask', { n: 2 });
  const approvalId = approval?.approvalId ?? '';
  // The person who decides sees the owner of the session; the caller knows it by its name.
  expect(approval?.session).toBe('a/b');
  const asked = { ...approval, session: 'key_1/a/b' };
  expect(await toArray(client.approvals.all({ state: 'pending', agentId }))).toEqual([asked]);
  expect(await client.approvals.approve(approvalId, { reason: 'fine' })).toMatchObject({ state: 'approved' });
  expect(await agent.call('ask', { n: 2 }, { approvalId })).toMatchObject({ result: { input: { n: 2 } } });
  await expect(client.approvals.deny(approvalId)).rejects.toMatchObject({ code: 'E_APPROVAL_SETTLED' });

  expect(await agent.prompt()).toContain('milk');
  expect((await toArray(agent.sessions.all())).map(({ session }) => session)).toEqual(['a/b']);
  const child = await agent.sessions.open({ readOnly: true });
  expect(child.parent).toBe('a/b');
  await agent.sessions.end(child.session);
  await agent.sessions.end('a/b');
  expect(await toArray(agent.sessions.all())).toEqual([]);
});

test('stores secrets by name', async () => {
  await client.secrets.put('TOKEN', 'of-value');
  expect((await client.secrets.list()).map(({ name }) => name)).toEqual(['TOKEN']);
  await client.secrets.remove('TOKEN');
  expect(await client.secrets.list()).toEqual([]);
});

test.each(['', '.', '..'])('refuses %j as an id, because it would change the path', async (id) => {
  for (const wrong of [client.sandboxes.remove(id), client.keys.revoke(id), client.secrets.remove(id)]) {
    await expect(wrong).rejects.toThrow('is no id or name');
  }
  expect(await client.account.get()).toMatchObject({ accountId });
});

test('acts in an account as the admin, and deletes it', async () => {
  const there = admin.accounts.in(accountId);
  const box = await there.sandboxes.create({ name: 'of the admin' });
  expect(await client.sandboxes.get(box.sandboxId)).toEqual(box);
  expect(await there.patch({ description: 'seen' }, { version: 1 })).toMatchObject({ description: 'seen', version: 2 });
  const { secret } = await there.rotateSecret();
  const renewed = createClient({ baseUrl: fixture.url, token: secret });
  expect(await renewed.account.remove()).toMatchObject({ sandboxes: 1 });
  expect(await toArray(admin.accounts.all())).toEqual([]);
});
