import { describe, expect, test } from 'vitest';
import { auditOf, messageOf, openFixture, refusal } from './fixture.ts';

const hour = 3_600_000;

describe('the token of a runner', () => {
  test('is shown once, has its account and its name, and is not a key', async () => {
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

  test('is not replaced by a key of a person, whatever its name and scopes', async () => {
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

  test('that is wrong, cut, longer or empty is refused', async () => {
    const { registry, actor } = await openFixture();
    const { token } = await registry.runners.create(actor, { name: 'laptop' });
    for (const other of ['', ' ', token.slice(0, -1), `${token}x`, ` ${token}`, token.toUpperCase(), 'x'.repeat(1e6)])
      expect(await registry.runners.authenticate(other)).toBeUndefined();
  });

  test.each(['', ' ', 'a/b', '../x', '-x', 'a b', 'x'.repeat(65), 'ü', 'a\n', 7])(
    'is refused for the name %j',
    async (name) => {
      const { registry, actor } = await openFixture();
      expect(await messageOf(registry.runners.create(actor, { name }))).toContain('name must be 1 to 64 letters');
    },
  );
});

describe('the name of a runner', () => {
  test('is unique, and free again after it is revoked', async () => {
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

  test('is given once to many concurrent requests', async () => {
    const { registry, actor } = await openFixture();
    const asked = Array.from({ length: 8 }, () => registry.runners.create(actor, { name: 'laptop' }));
    const made = (await Promise.allSettled(asked)).filter(({ status }) => status === 'fulfilled');
    expect(made).toHaveLength(1);
    expect(await registry.runners.list(actor.accountId)).toHaveLength(1);
  });

  test('of another account cannot be revoked or rotated', async () => {
    const { registry, actor, stranger } = await openFixture();
    const { token } = await registry.runners.create(actor, { name: 'laptop' });
    for (const attempt of [registry.runners.revoke(stranger, 'laptop'), registry.runners.rotate(stranger, 'laptop')])
      expect(await messageOf(attempt)).toBe('E_NOT_FOUND: Runner not found');
    expect(await registry.runners.authenticate(token)).toBeDefined();
  });
});

test('a rotated token is refused, and the new one ends when the old one would have', async () => {
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

test('an expired token is refused at once, and its name is free', async () => {
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

test('a key with an end makes no token that ends later', async () => {
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

test('a token of an account that is being removed is refused, and no new one is made', async () => {
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

test('runners have their own quota, and do not count towards that of keys', async () => {
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
