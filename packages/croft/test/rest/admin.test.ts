import { describe, expect, test } from 'vitest';
import { fillAccount } from './fill-account.ts';
import { adminToken, openFixture } from './fixture.ts';

const admin = { token: adminToken };

test('the admin creates, lists, changes and deletes accounts, and acts in them', async () => {
  await using fixture = await openFixture();
  const made = await fixture.send('POST', '/accounts', { ...admin, body: { username: 'ann', description: 'first' } });
  const { account, secret } = made.json;
  expect(made.status).toBe(201);
  expect(account).toEqual({ accountId: account.accountId, username: 'ann', description: 'first' });
  const one = `/accounts/${account.accountId}`;
  const shown = await fixture.send('GET', one, admin);
  expect(shown.json.account).toMatchObject({ ...account, status: 'active', version: 1 });
  expect((await fixture.send('GET', '/accounts', admin)).json).toEqual({ accounts: [shown.json.account] });
  for (const { text } of [shown, await fixture.send('GET', '/accounts', admin)]) expect(text).not.toContain(secret);

  const changed = await fixture.send('PATCH', one, {
    ...admin,
    body: { username: 'anna' },
    headers: { 'If-Match': shown.headers.get('etag') ?? '' },
  });
  expect(changed.json.account).toMatchObject({ username: 'anna', version: 2 });

  const rotated = await fixture.send('POST', `${one}/rotate-secret`, admin);
  expect(await fixture.send('GET', '/v1/account', { token: secret })).toMatchObject({ status: 401 });
  const { secret: token } = rotated.json;
  const box = await fixture.send('POST', `${one}/sandboxes`, { ...admin, body: { name: 'box', config: {} } });
  const own = await fixture.send('GET', `/v1/sandboxes/${box.json.sandboxId}`, { token });
  expect(own.json).toEqual(box.json);
  const audit = await fixture.send('GET', '/v1/audit', { token });
  expect(audit.json.audit.at(-1)).toMatchObject({ actor: 'admin', action: 'sandbox.created' });

  const removed = await fixture.send('DELETE', one, admin);
  expect(removed).toMatchObject({ status: 200, json: { deleted: true, cleanup: { sandboxes: 1 } } });
  for (const path of [one, `${one}/sandboxes`, `${one}/agents`]) {
    const gone = await fixture.send('GET', path, admin);
    expect(gone).toMatchObject({ status: 404, json: { error: { message: 'Account not found' } } });
  }
  expect(await fixture.send('GET', '/v1/account', { token })).toMatchObject({ status: 401 });
});

test.each(['acct_000000000000000000000000', 'nobody', 'ME', '%20'])('an account %s is not found', async (id) => {
  await using fixture = await openFixture();
  const before = fixture.dump();
  for (const [method, path] of [
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/rotate-secret'],
    ['GET', '/sandboxes'],
    ['POST', '/agents'],
  ] as const) {
    const body = method === 'POST' ? { body: { name: 'x', config: {} } } : {};
    const answer = await fixture.send(method, `/accounts/${id}${path}`, { ...admin, ...body });
    expect(answer).toMatchObject({ status: 404, json: { error: { message: 'Account not found' } } });
  }
  expect(fixture.dump()).toEqual(before);
});

describe('an account that is deleted', () => {
  test('by its own key reports what was removed, and leaves only its audit trail', async () => {
    const files: string[][] = [];
    await using fixture = await openFixture({
      removeFiles: async (accountId, workspaceIds) => {
        files.push([accountId, ...workspaceIds]);
        return { files: 3 };
      },
    });
    const { accountId, token } = await fixture.addAccount('ann');
    const other = await fixture.addAccount('bob');
    await fillAccount(fixture, other.token);
    const { workspaceId } = await fillAccount(fixture, token);
    const answer = await fixture.send('DELETE', '/accounts/me', { token });
    expect(answer).toMatchObject({ status: 200, json: { deleted: true } });
    expect(answer.json.cleanup).toMatchObject({ files: 3, agents: 1, sandboxes: 1, workspaces: 1, secrets: 1 });
    expect(files).toEqual([[accountId, workspaceId]]);
    const { audit, ...rest } = fixture.dump();
    expect(JSON.stringify(rest)).not.toContain(accountId);
    expect(JSON.stringify(audit)).toContain(accountId);
    expect((await fixture.send('GET', '/v1/agents', { token: other.token })).json.agents).toHaveLength(1);
  });

  test('whose files cannot be removed is closed, and is removed at the next attempt', async () => {
    let isBroken = true;
    await using fixture = await openFixture({
      removeFiles: async () => {
        if (isBroken) throw new Error('the disk is away');
        return { files: 1 };
      },
    });
    const { accountId, token } = await fixture.addAccount('ann');
    await fillAccount(fixture, token);
    const failed = await fixture.send('DELETE', '/v1/account', { token });
    expect(failed).toMatchObject({ status: 500, json: { error: { code: 'E_INTERNAL' } } });
    expect(failed.text).not.toContain('disk');
    expect(fixture.errors).toHaveLength(1);
    expect(await fixture.send('GET', '/v1/sandboxes', { token })).toMatchObject({ status: 401 });
    const one = `/accounts/${accountId}`;
    expect((await fixture.send('GET', one, admin)).json.account.status).toBe('disabled');
    const late = await fixture.send('POST', `${one}/sandboxes`, { ...admin, body: { name: 'late', config: {} } });
    expect(late.status).toBe(403);
    isBroken = false;
    for (const method of ['GET', 'PATCH'])
      expect((await fixture.send(method, '/v1/account', { token })).status).toBe(401);
    // The caller that began the removal can repeat it with its key, which is valid for nothing else.
    const again = await fixture.send('DELETE', '/v1/account', { token });
    expect(again).toMatchObject({ status: 200, json: { cleanup: { files: 1 } } });
    expect(await fixture.send('GET', one, admin)).toMatchObject({ status: 404 });
  });
});
