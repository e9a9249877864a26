import { describe, expect, test } from 'vitest';
import { fillAccount } from './everything.ts';
import { adminToken, openGround } from './ground.ts';

const admin = { token: adminToken };

test('the admin makes, lists, changes and deletes accounts, and acts in them', async () => {
  await using ground = await openGround();
  const made = await ground.send('POST', '/accounts', { ...admin, body: { username: 'ann', description: 'first' } });
  const { account, secret } = made.json;
  expect(made.status).toBe(201);
  expect(account).toEqual({ accountId: account.accountId, username: 'ann', description: 'first' });
  const one = `/accounts/${account.accountId}`;
  const shown = await ground.send('GET', one, admin);
  expect(shown.json.account).toMatchObject({ ...account, status: 'active', version: 1 });
  expect((await ground.send('GET', '/accounts', admin)).json).toEqual({ accounts: [shown.json.account] });
  for (const { text } of [shown, await ground.send('GET', '/accounts', admin)]) expect(text).not.toContain(secret);

  const changed = await ground.send('PATCH', one, {
    ...admin,
    body: { username: 'anna' },
    headers: { 'If-Match': shown.headers.get('etag') ?? '' },
  });
  expect(changed.json.account).toMatchObject({ username: 'anna', version: 2 });

  const rotated = await ground.send('POST', `${one}/rotate-secret`, admin);
  expect(await ground.send('GET', '/v1/account', { token: secret })).toMatchObject({ status: 401 });
  const { secret: token } = rotated.json;
  const box = await ground.send('POST', `${one}/sandboxes`, { ...admin, body: { name: 'box', config: {} } });
  const own = await ground.send('GET', `/v1/sandboxes/${box.json.sandboxId}`, { token });
  expect(own.json).toEqual(box.json);
  const audit = await ground.send('GET', '/v1/audit', { token });
  expect(audit.json.audit.at(-1)).toMatchObject({ actor: 'admin', action: 'sandbox.created' });

  const removed = await ground.send('DELETE', one, admin);
  expect(removed).toMatchObject({ status: 200, json: { deleted: true, cleanup: { sandboxes: 1 } } });
  for (const path of [one, `${one}/sandboxes`, `${one}/agents`]) {
    const gone = await ground.send('GET', path, admin);
    expect(gone).toMatchObject({ status: 404, json: { error: { message: 'Account not found' } } });
  }
  expect(await ground.send('GET', '/v1/account', { token })).toMatchObject({ status: 401 });
});

test.each(['acct_000000000000000000000000', 'nobody', 'ME', '%20'])('an account %s is not found', async (id) => {
  await using ground = await openGround();
  const before = ground.dump();
  for (const [method, path] of [
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/rotate-secret'],
    ['GET', '/sandboxes'],
    ['POST', '/agents'],
  ] as const) {
    const body = method === 'POST' ? { body: { name: 'x', config: {} } } : {};
    const answer = await ground.send(method, `/accounts/${id}${path}`, { ...admin, ...body });
    expect(answer).toMatchObject({ status: 404, json: { error: { message: 'Account not found' } } });
  }
  expect(ground.dump()).toEqual(before);
});

describe('an account that is deleted', () => {
  test('by its own key says what went, and leaves nothing but its trail', async () => {
    const files: string[][] = [];
    await using ground = await openGround({
      removeFiles: async (accountId, workspaceIds) => {
        files.push([accountId, ...workspaceIds]);
        return { files: 3 };
      },
    });
    const { accountId, token } = await ground.addAccount('ann');
    const other = await ground.addAccount('bob');
    await fillAccount(ground, other.token);
    const { workspaceId } = await fillAccount(ground, token);
    const answer = await ground.send('DELETE', '/accounts/me', { token });
    expect(answer).toMatchObject({ status: 200, json: { deleted: true } });
    expect(answer.json.cleanup).toMatchObject({ files: 3, agents: 1, sandboxes: 1, workspaces: 1, secrets: 1 });
    expect(files).toEqual([[accountId, workspaceId]]);
    const { audit, ...rest } = ground.dump();
    expect(JSON.stringify(rest)).not.toContain(accountId);
    expect(JSON.stringify(audit)).toContain(accountId);
    expect((await ground.send('GET', '/v1/agents', { token: other.token })).json.agents).toHaveLength(1);
  });

  test('and whose files would not go is closed, and goes when it is tried again', async () => {
    let isBroken = true;
    await using ground = await openGround({
      removeFiles: async () => {
        if (isBroken) throw new Error('the disk is away');
        return { files: 1 };
      },
    });
    const { accountId, token } = await ground.addAccount('ann');
    await fillAccount(ground, token);
    const failed = await ground.send('DELETE', '/v1/account', { token });
    expect(failed).toMatchObject({ status: 500, json: { error: { code: 'E_INTERNAL' } } });
    expect(failed.text).not.toContain('disk');
    expect(ground.errors).toHaveLength(1);
    expect(await ground.send('GET', '/v1/sandboxes', { token })).toMatchObject({ status: 401 });
    const one = `/accounts/${accountId}`;
    expect((await ground.send('GET', one, admin)).json.account.status).toBe('disabled');
    const late = await ground.send('POST', `${one}/sandboxes`, { ...admin, body: { name: 'late', config: {} } });
    expect(late.status).toBe(403);
    isBroken = false;
    for (const method of ['GET', 'PATCH'])
      expect((await ground.send(method, '/v1/account', { token })).status).toBe(401);
    // By whoever began it, with the key that is good for nothing else any more.
    const again = await ground.send('DELETE', '/v1/account', { token });
    expect(again).toMatchObject({ status: 200, json: { cleanup: { files: 1 } } });
    expect(await ground.send('GET', one, admin)).toMatchObject({ status: 404 });
  });
});
