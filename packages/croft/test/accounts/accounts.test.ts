import { describe, expect, test, vi } from 'vitest';
import { createRegistry } from '../../src/core/accounts/lifecycle/create-registry.ts';
import { findBreak } from '../../src/core/accounts/ports/audit-chain.ts';
import { type AccountsFixture, auditOf, messageOf, newActor, openFixture, refusal } from './fixture.ts';

const noFiles = async () => ({ files: 0 });

async function addRecords({ registry, actor }: AccountsFixture): Promise<string> {
  const sandbox = await registry.sandboxes.create(actor, { name: 's' });
  const workspace = await registry.workspaces.create(actor, { name: 'w' });
  const workspaces = [{ name: 'w', workspaceId: workspace.id }];
  await registry.agents.create(actor, { name: 'a', config: { sandbox: sandbox.id, workspaces } });
  await registry.secrets.put(actor, 'TOKEN', { value: 'x' });
  return workspace.id;
}

describe('an account', () => {
  test('is made with one key that has all scopes and is shown once', async () => {
    const { registry } = await openFixture();
    const { account, secret } = await registry.accounts.create('admin', { username: ' ann ', description: 'x' });
    expect(account).toMatchObject({ username: 'ann', description: 'x', status: 'active', version: 1 });
    expect(account.accountId).toMatch(/^acct_[0-9a-f]{24}$/);
    const actor = await registry.accounts.authenticate(secret);
    expect(actor).toMatchObject({ accountId: account.accountId, scopes: ['*'] });
    const { rows } = await registry.keys.list(actor ?? expect.fail(), { limit: 10 });
    expect(rows).toMatchObject([{ name: 'default', scopes: ['*'] }]);
    expect(await registry.accounts.get(account.accountId)).toEqual(account);
    expect(JSON.stringify(account)).not.toContain('croft_');
    expect((await registry.accounts.list({ limit: 10 })).rows.at(-1)).toEqual(account);
  });

  test('refuses any other field', async () => {
    const refused = [
      [undefined, 'Request body must be an object'],
      [[], 'Request body must be an object'],
      [{}, 'username is required'],
      [{ username: '  ' }, 'username is required'],
      [{ username: 1 }, 'username must be a string'],
      [{ username: 'x', description: {} }, 'description must be a string'],
      [{ username: 'x', config: {} }, 'Agent config is created through /accounts/me/agents'],
      [{ config: undefined }, 'Agent config is created through /accounts/me/agents'],
      [
        { username: 'x', big: 'x'.repeat(300_000) },
        'Request body is 300025 characters of JSON; at most 262144 are kept',
      ],
    ] as const;
    const { registry } = await openFixture();
    for (const [body, message] of refused) {
      expect(await messageOf(registry.accounts.create('admin', body)), message).toBe(message);
    }
    expect((await registry.accounts.list({ limit: 10 })).rows).toHaveLength(2);
  });

  test('can change its name and description, and nothing else', async () => {
    const { registry, actor } = await openFixture();
    const patch = (body: unknown) => registry.accounts.patch('admin', actor.accountId, body);
    expect(await patch({ username: 'new', description: 'd', status: 'disabled', version: 9 })).toMatchObject({
      username: 'new',
      description: 'd',
      status: 'active',
      version: 2,
    });
    expect(await patch({ description: null })).not.toHaveProperty('description');
    const refused = [
      [{}, 'Request body must include username or description'],
      [{ status: 'disabled' }, 'Request body must include username or description'],
      [{ username: '' }, 'username is required'],
      [{ username: null }, 'username must be a string'],
      [{ username: 'x', config: 1 }, 'Agent config must be updated through /accounts/me/agents/{agentId}'],
    ] as const;
    for (const [body, message] of refused) expect(await messageOf(patch(body))).toBe(message);
    for (const other of ['', 'acct_', `acct_${'0'.repeat(24)}`, `${actor.accountId}\0`]) {
      expect(await messageOf(registry.accounts.patch('admin', other, { username: 'x' }))).toBe(
        'E_NOT_FOUND: Account not found',
      );
      expect(await messageOf(registry.accounts.get(other))).toBe('E_NOT_FOUND: Account not found');
    }
  });

  test('with a rotated secret has one secret, and its other keys', async () => {
    const { registry } = await openFixture();
    const { account, secret } = await registry.accounts.create('admin', { username: 'x' });
    const actor = (await registry.accounts.authenticate(secret)) ?? expect.fail();
    const other = await registry.keys.create(actor, { name: 'other', scopes: ['*'] });
    const [own] = (await registry.keys.list(actor, { limit: 1 })).rows;
    const rotated = await registry.keys.rotate(actor, own?.keyId ?? '');
    const once = await registry.accounts.rotateSecret('admin', account.accountId);
    const twice = await registry.accounts.rotateSecret('admin', account.accountId);
    for (const old of [secret, rotated.secret, once.secret])
      expect(await registry.accounts.authenticate(old)).toBeUndefined();
    for (const good of [twice.secret, other.secret]) expect(await registry.accounts.authenticate(good)).toBeDefined();
    expect(twice.account).toEqual(account);
    expect(await messageOf(registry.accounts.rotateSecret('admin', `acct_${'0'.repeat(24)}`))).toContain(
      'Account not found',
    );
  });
});

describe('an account that is removed', () => {
  test('leaves only its audit trail, and no other account changes', async () => {
    const fixture = await openFixture();
    const { registry, actor, stranger, records } = fixture;
    const workspace = await addRecords(fixture);
    await addRecords({ ...fixture, actor: stranger });
    const removeFiles = vi.fn(async () => ({ files: 12 }));
    const removed = await registry.accounts.remove('admin', actor.accountId, removeFiles);
    expect(removeFiles.mock.calls).toEqual([[[workspace]]]);
    expect(removed).toMatchObject({
      files: 12,
      keys: 1,
      agents: 1,
      sandboxes: 1,
      workspaces: 1,
      secrets: 1,
      references: 2,
    });
    expect(await messageOf(registry.accounts.get(actor.accountId))).toBe('E_NOT_FOUND: Account not found');
    expect(await messageOf(registry.accounts.remove('admin', actor.accountId, noFiles))).toBe(
      'E_NOT_FOUND: Account not found',
    );
    const rows = await auditOf(fixture, actor);
    expect(rows.map(({ action }) => action)).toEqual([
      'account.created',
      ...['sandbox.created', 'workspace.created', 'agent.created', 'secret.created'],
      ...['account.disabled', 'account.removed'],
    ]);
    expect(JSON.parse(rows.at(-1)?.details ?? '')).toEqual({ removed });
    const all = await records.read(({ audit }) => audit.list({}, { limit: 1000 }));
    expect(findBreak(all.rows)).toBeUndefined();
    expect((await registry.agents.list(stranger, { limit: 10 })).rows).toHaveLength(1);
  });

  test('refuses every key and every change from the first moment', async () => {
    const fixture = await openFixture();
    const { registry, actor } = fixture;
    await addRecords(fixture);
    const { secret } = await registry.keys.create(actor, { name: 'k', scopes: ['*'] });
    const attempts: Promise<unknown>[] = [];
    await registry.accounts.remove('admin', actor.accountId, async () => {
      expect(await registry.accounts.authenticate(secret)).toBeUndefined();
      attempts.push(
        refusal(registry.sandboxes.create(actor, { name: 'late' })),
        refusal(registry.workspaces.create(actor, { name: 'late' })),
        refusal(registry.agents.create(actor, { name: 'late' })),
        refusal(registry.secrets.put(actor, 'LATE', { value: 'x' })),
        refusal(registry.keys.create(actor, { name: 'late', scopes: ['*'] })),
        refusal(registry.accounts.rotateSecret('admin', actor.accountId)),
      );
      for (const attempt of attempts) expect(await attempt).toMatchObject({ code: 'E_FORBIDDEN' });
      return {};
    });
    expect(attempts).toHaveLength(6);
    const late = await refusal(registry.sandboxes.create(actor, { name: 'later' }));
    expect(late.code).toBe('E_NOT_FOUND');
  });

  test('can be removed again after a failure at any point', async () => {
    const fixture = await openFixture();
    const { registry, actor, records } = fixture;
    const workspace = await addRecords(fixture);
    const down = () => Promise.reject(new Error('the storage is down'));
    await expect(registry.accounts.remove('admin', actor.accountId, down)).rejects.toThrow('the storage is down');
    expect(await registry.accounts.get(actor.accountId)).toMatchObject({ status: 'disabled' });

    // The store fails at each change in turn: the disabling, then the removal.
    for (const failing of [1, 2]) {
      let count = 0;
      const change: typeof records.change = (work) =>
        records.change(async (tables) => {
          count += 1;
          const result = await work(tables);
          if (count === failing) throw new Error('the power went');
          return result;
        });
      const broken = createRegistry({ ...fixture, records: { ...records, change } });
      await expect(broken.accounts.remove('admin', actor.accountId, noFiles)).rejects.toThrow('the power went');
      expect((await registry.agents.list(actor, { limit: 10 })).rows).toHaveLength(1);
    }

    const removeFiles = vi.fn(noFiles);
    const removed = await registry.accounts.remove('admin', actor.accountId, removeFiles);
    expect(removeFiles.mock.calls).toEqual([[[workspace]]]);
    expect(removed).toMatchObject({ agents: 1, sandboxes: 1, workspaces: 1 });
  });

  test('is removed once by two concurrent requests', async () => {
    const fixture = await openFixture();
    await addRecords(fixture);
    const remove = () => fixture.registry.accounts.remove('admin', fixture.actor.accountId, noFiles);
    const outcomes = await Promise.allSettled([remove(), remove()]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await messageOf(remove())).toBe('E_NOT_FOUND: Account not found');
  });
});

describe('secrets', () => {
  test('are stored, replaced, opened only by the server, and removed', async () => {
    const fixture = await openFixture({ quotas: { secrets: 2 } });
    const { registry, actor, stranger } = fixture;
    await registry.secrets.put(actor, 'B', { value: 'one' });
    await registry.secrets.put(actor, 'A', { value: ' two\n' });
    await registry.secrets.put(actor, 'B', { value: 'three' });
    expect((await refusal(registry.secrets.put(actor, 'C', { value: 'x' }))).code).toBe('E_QUOTA');
    expect([...(await registry.secrets.openAll(actor.accountId))]).toEqual([
      ['A', ' two\n'],
      ['B', 'three'],
    ]);
    expect((await registry.secrets.list(actor)).map(({ name }) => name)).toEqual(['A', 'B']);
    expect(JSON.stringify([await registry.secrets.list(actor), await auditOf(fixture, actor)])).not.toContain('three');
    expect((await registry.secrets.openAll(stranger.accountId)).size).toBe(0);
    for (const name of ['A', 'none', '', '../A', 'A\0']) {
      expect(await messageOf(registry.secrets.remove(stranger, name))).toBe('E_NOT_FOUND: Secret not found');
    }
    await registry.secrets.remove(actor, 'A');
    expect((await registry.secrets.list(actor)).map(({ name }) => name)).toEqual(['B']);
  });

  test('refuse any other field', async () => {
    const refused = [
      ['a/b', { value: 'x' }, 'name must be 1 to 128 letters, numbers, dots, underscores or hyphens'],
      ['', { value: 'x' }, 'name must be 1 to 128 letters, numbers, dots, underscores or hyphens'],
      ['a\n', { value: 'x' }, 'name must be 1 to 128 letters, numbers, dots, underscores or hyphens'],
      ['A', null, 'Request body must be an object'],
      ['A', {}, 'value must be a non-empty string'],
      ['A', { value: '' }, 'value must be a non-empty string'],
      ['A', { value: 7 }, 'value must be a non-empty string'],
      ['A', { value: '********' }, 'value must be the secret itself, not ********'],
      ['A', { value: 'x'.repeat(65_537) }, 'value must be at most 65536 characters long'],
    ] as const;
    const { registry, actor } = await openFixture();
    for (const [name, body, message] of refused) {
      expect(await messageOf(registry.secrets.put(actor, name, body)), message).toBe(message);
    }
    expect(await registry.secrets.list(actor)).toEqual([]);
  });

  test('of a new account are an empty list', async () => {
    const { registry } = await openFixture();
    expect(await registry.secrets.list(await newActor(registry, 'third'))).toEqual([]);
  });
});
