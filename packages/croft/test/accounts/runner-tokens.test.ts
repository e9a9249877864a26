import { describe, expect, test } from 'vitest';
import { auditOf, messageOf, openFixture, refusal } from './fixture.ts';

const hour = 3_600_000;

describe('the token of a runner', () => {
  test('is told once, names its account and its name, and is no key', async () => {
    const fixture = await openFixture();
    const { registry, actor, stranger } = fixture;
    const { runner, token } = await registry.runners.create(actor, { name: 'laptop' });
    expect(runner).toMatchObject({ accountId: actor.accountId, name: 'laptop' });
    expect(await registry.runners.authenticate(token)).toEqual(runner);
    expect(await registry.accounts.authenticate(token)).toBeUndefined();
    expect(await registry.runners.list(actor.accountId)).toEqual([runner]);
    expect(await registry.runners.list(stranger.accountId)).toEqual([]);
    expect(JSON.stringify([runner, await auditOf(fixture, actor)])).not.toContain(token.slice(6));
  });

  test('is what no key of a person is, whatever it is called and may do', async () => {
    const { registry, actor } = await openFixture();
    for (const scopes of [['runner'], ['*', 'runner'], ['read', 'runner']])
      expect((await refusal(registry.keys.create(actor, { name: 'runner/laptop', scopes }))).code).toBe(
        'E_INVALID_INPUT',
      );
    const { secret } = await registry.keys.create(actor, { name: 'runner/laptop', scopes: ['*'] });
    expect(await registry.runners.authenticate(secret)).toBeUndefined();
    expect(await registry.runners.list(actor.accountId)).toEqual([]);
    // Nor does it take the name away from a runner.
    expect((await registry.runners.create(actor, { name: 'laptop' })).runner.name).toBe('laptop');
  });

  test('that is wrong, cut, grown or none is nobody', async () => {
    const { registry, actor } = await openFixture();
    const { token } = await registry.runners.create(actor, { name: 'laptop' });
    for (const other of ['', ' ', token.slice(0, -1), `${token}x`, ` ${token}`, token.toUpperCase(), 'x'.repeat(1e6)])
      expect(await registry.runners.authenticate(other)).toBeUndefined();
  });

  test.each(['', ' ', 'a/b', '../x', '-x', 'a b', 'x'.repeat(65), 'ü', 'a\n', 7])(
    'is not made for the name %j',
    async (name) => {
      const { registry, actor } = await openFixture();
      expect(await messageOf(registry.runners.create(actor, { name }))).toContain('name must be 1 to 64 letters');
    },
  );
});

describe('the name of a runner', () => {
  test('is one at a time, and free again when it is revoked', async () => {
    const fixture = await openFixture();
    const { registry, actor, stranger } = fixture;
    const first = await registry.runners.create(actor, { name: 'laptop' });
    expect((await refusal(registry.runners.create(actor, { name: 'laptop' }))).code).toBe('E_ALREADY_EXISTS');
    const theirs = await registry.runners.create(stranger, { name: 'laptop' });
    await registry.runners.revoke(actor, 'laptop');
    expect(await registry.runners.authenticate(first.token)).toBeUndefined();
    expect(await registry.runners.authenticate(theirs.token)).toEqual(theirs.runner);
    const second = await registry.runners.create(actor, { name: 'laptop' });
    expect(second.runner.runnerId).not.toBe(first.runner.runnerId);
    expect(await registry.runners.authenticate(first.token)).toBeUndefined();
    expect(await registry.runners.authenticate(second.token)).toEqual(second.runner);
    const actions = (await auditOf(fixture, actor)).map(({ action, target }) => `${action} ${target}`);
    expect(actions.slice(1)).toEqual(['runner.created laptop', 'runner.revoked laptop', 'runner.created laptop']);
  });

  test('asked for many times at once is given once', async () => {
    const { registry, actor } = await openFixture();
    const asked = Array.from({ length: 8 }, () => registry.runners.create(actor, { name: 'laptop' }));
    const made = (await Promise.allSettled(asked)).filter(({ status }) => status === 'fulfilled');
    expect(made).toHaveLength(1);
    expect(await registry.runners.list(actor.accountId)).toHaveLength(1);
  });

  test('of another account is none, to revoke or to rotate', async () => {
    const { registry, actor, stranger } = await openFixture();
    const { token } = await registry.runners.create(actor, { name: 'laptop' });
    for (const attempt of [registry.runners.revoke(stranger, 'laptop'), registry.runners.rotate(stranger, 'laptop')])
      expect(await messageOf(attempt)).toBe('E_NOT_FOUND: Runner not found');
    expect(await registry.runners.authenticate(token)).toBeDefined();
  });
});

test('rotated, the old token is good no more, and the new one ends when the old would have', async () => {
  const fixture = await openFixture();
  const { registry, actor, now } = fixture;
  const expiresAt = new Date(now().getTime() + hour).toISOString();
  const first = await registry.runners.create(actor, { name: 'laptop', expiresAt });
  const second = await registry.runners.rotate(actor, 'laptop');
  expect(second.runner).toMatchObject({ name: 'laptop', expiresAt });
  expect(await registry.runners.authenticate(first.token)).toBeUndefined();
  expect(await registry.runners.authenticate(second.token)).toEqual(second.runner);
  expect(await registry.runners.list(actor.accountId)).toEqual([second.runner]);
  expect((await auditOf(fixture, actor)).at(-1)).toMatchObject({ action: 'runner.rotated', target: 'laptop' });
});

test('expired, it is nobody at once, and its name is free', async () => {
  const { registry, actor, now, advanceClock } = await openFixture();
  const expiresAt = new Date(now().getTime() + hour).toISOString();
  const past = new Date(now().getTime() - hour).toISOString();
  expect(await messageOf(registry.runners.create(actor, { name: 'late', expiresAt: past }))).toContain('future');
  const { token } = await registry.runners.create(actor, { name: 'laptop', expiresAt });
  advanceClock(hour - 60_000);
  expect(await registry.runners.authenticate(token)).toBeDefined();
  advanceClock(60_001);
  expect(await registry.runners.authenticate(token)).toBeUndefined();
  expect(await registry.runners.list(actor.accountId)).toEqual([]);
  expect(await messageOf(registry.runners.rotate(actor, 'laptop'))).toBe('E_NOT_FOUND: Runner not found');
  expect((await registry.runners.create(actor, { name: 'laptop' })).token).not.toBe(token);
});

test('a key that ends makes no token that goes on after it', async () => {
  const { registry, actor, now } = await openFixture();
  const expiresAt = new Date(now().getTime() + hour).toISOString();
  const { secret } = await registry.keys.create(actor, { name: 'short', scopes: ['write'], expiresAt });
  const short = await registry.accounts.authenticate(secret);
  if (!short) throw new Error('a new key is not good');
  expect(await messageOf(registry.runners.create(short, { name: 'laptop' }))).toContain(expiresAt);
  expect((await registry.runners.create(short, { name: 'laptop', expiresAt })).runner.expiresAt).toBe(expiresAt);
  expect((await registry.runners.rotate(short, 'laptop')).runner.expiresAt).toBe(expiresAt);
  // Nor by making a new one of another's, which does not end.
  const { token } = await registry.runners.create(actor, { name: 'lasting' });
  expect(await messageOf(registry.runners.rotate(short, 'lasting'))).toContain(expiresAt);
  expect(await registry.runners.authenticate(token)).toBeDefined();
});

test('of an account whose removal was begun it is nobody, and none is made', async () => {
  const { registry, actor } = await openFixture();
  const { token } = await registry.runners.create(actor, { name: 'laptop' });
  const removeFiles = async () => {
    throw new Error('the disk is gone');
  };
  await expect(registry.accounts.remove('admin', actor.accountId, removeFiles)).rejects.toThrow('the disk is gone');
  expect(await registry.runners.authenticate(token)).toBeUndefined();
  for (const attempt of [registry.runners.create(actor, { name: 'b' }), registry.runners.rotate(actor, 'laptop')])
    expect((await refusal(attempt)).code).toBe('E_FORBIDDEN');
  await registry.accounts.remove('admin', actor.accountId, async () => ({}));
  expect(await registry.runners.authenticate(token)).toBeUndefined();
  expect(await registry.runners.list(actor.accountId)).toEqual([]);
});

test('runners have a quota of their own, and take no room from keys', async () => {
  const { registry, actor } = await openFixture({ quotas: { keys: 2, runners: 2 } });
  await registry.runners.create(actor, { name: 'a' });
  await registry.runners.create(actor, { name: 'b' });
  expect((await refusal(registry.runners.create(actor, { name: 'c' }))).code).toBe('E_QUOTA');
  // The account's own key is the first of two.
  await registry.keys.create(actor, { name: 'second', scopes: ['read'] });
  expect((await refusal(registry.keys.create(actor, { name: 'third', scopes: ['read'] }))).code).toBe('E_QUOTA');
  await registry.runners.revoke(actor, 'a');
  expect((await registry.runners.create(actor, { name: 'c' })).runner.name).toBe('c');
});
