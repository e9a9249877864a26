import { describe, expect, test } from 'vitest';
import type { Actor, Scope } from '../../src/core/accounts/ports/registry.ts';
import { type AccountsFixture, auditOf, messageOf, openFixture, refusal } from './fixture.ts';

const hour = 3_600_000;

async function actorOf({ registry, actor }: AccountsFixture, scopes: readonly Scope[]): Promise<Actor> {
  const { secret } = await registry.keys.create(actor, { name: scopes.join('+'), scopes });
  const made = await registry.accounts.authenticate(secret);
  if (!made) throw new Error('a new key is not good');
  return made;
}

describe('a key', () => {
  test('is shown once, is valid at once, and lists its scopes', async () => {
    const fixture = await openFixture();
    const { registry, actor } = fixture;
    const { key, secret } = await registry.keys.create(actor, { name: 'ci', scopes: ['read', 'call', 'read'] });
    expect(secret).toMatch(/^croft_[\w-]{43}$/);
    expect(key).toMatchObject({ accountId: actor.accountId, name: 'ci', scopes: ['read', 'call'] });
    expect(await registry.accounts.authenticate(secret)).toEqual({
      accountId: actor.accountId,
      label: `key ${key.keyId}`,
      scopes: ['read', 'call'],
      asOf: expect.any(Number),
      sessionMoves: expect.any(Number),
    });
    const { rows } = await registry.keys.list(actor, { limit: 10 });
    expect(rows.map(({ name }) => name)).toEqual(['default', 'ci']);
    for (const row of rows) expect(row).not.toHaveProperty('hash');
    expect(JSON.stringify([rows, await auditOf(fixture, actor)])).not.toContain(secret.slice(6));
  });

  test('with an end makes no key or token that ends later', async () => {
    const { registry, actor, now } = await openFixture();
    const expiresAt = new Date(now().getTime() + hour).toISOString();
    const later = new Date(now().getTime() + 2 * hour).toISOString();
    const { secret } = await registry.keys.create(actor, { name: 'short', scopes: ['*'], expiresAt });
    const short = await registry.accounts.authenticate(secret);
    if (!short) throw new Error('a new key is not good');
    expect(await messageOf(registry.keys.create(short, { name: 'a', scopes: ['read'] }))).toContain(expiresAt);
    expect(await messageOf(registry.keys.create(short, { name: 'a', scopes: ['read'], expiresAt: later }))).toContain(
      'end',
    );
    const equal = await registry.keys.create(short, { name: 'a', scopes: ['read'], expiresAt });
    expect((await registry.keys.rotate(short, equal.key.keyId)).key.expiresAt).toBe(expiresAt);
    // Nor has it the secret of one that goes on by making that anew.
    const lasting = await registry.keys.create(actor, { name: 'b', scopes: ['read'] });
    expect(await messageOf(registry.keys.rotate(short, lasting.key.keyId))).toContain(expiresAt);
    expect(await registry.accounts.authenticate(lasting.secret)).toBeDefined();
  });

  test('that is wrong, cut, longer or empty is refused', async () => {
    const { registry, actor } = await openFixture();
    const { secret } = await registry.keys.create(actor, { name: 'k', scopes: ['*'] });
    const others = [
      '',
      ' ',
      secret.slice(0, -1),
      `${secret}x`,
      ` ${secret}`,
      secret.toUpperCase(),
      `${secret}\0`,
      'x'.repeat(1e6),
    ];
    for (const other of others) expect(await registry.accounts.authenticate(other)).toBeUndefined();
  });

  test('ends at once when it is revoked, rotated or expired', async () => {
    const fixture = await openFixture();
    const { registry, actor, now, advanceClock } = fixture;
    const first = await registry.keys.create(actor, { name: 'a', scopes: ['read'] });
    const second = await registry.keys.rotate(actor, first.key.keyId);
    expect(second.key).toMatchObject({ name: 'a', scopes: ['read'] });
    expect(await registry.accounts.authenticate(first.secret)).toBeUndefined();
    expect(await registry.accounts.authenticate(second.secret)).toMatchObject({ scopes: ['read'] });
    expect(await messageOf(registry.keys.rotate(actor, first.key.keyId))).toContain('revoked or expired');
    await registry.keys.revoke(actor, second.key.keyId);
    await registry.keys.revoke(actor, second.key.keyId);
    expect(await registry.accounts.authenticate(second.secret)).toBeUndefined();

    const expiresAt = new Date(now().getTime() + hour).toISOString();
    const third = await registry.keys.create(actor, { name: 'a', scopes: ['read'], expiresAt });
    const fourth = await registry.keys.rotate(actor, third.key.keyId);
    expect(fourth.key.expiresAt).toBe(expiresAt);
    advanceClock(hour - 1000);
    expect(await registry.accounts.authenticate(fourth.secret)).toBeDefined();
    advanceClock(1001);
    expect(await registry.accounts.authenticate(fourth.secret)).toBeUndefined();
    expect(await messageOf(registry.keys.rotate(actor, fourth.key.keyId))).toContain('revoked or expired');
    const actions = (await auditOf(fixture, actor)).map(({ action }) => action);
    expect(actions).toEqual([
      'account.created',
      'key.created',
      'key.rotated',
      'key.revoked',
      'key.created',
      'key.rotated',
    ]);
  });

  test('is rotated once, however many concurrent requests there are', async () => {
    const { registry, actor } = await openFixture();
    const { key } = await registry.keys.create(actor, { name: 'a', scopes: ['read'] });
    const many = await Promise.allSettled(Array.from({ length: 6 }, () => registry.keys.rotate(actor, key.keyId)));
    expect(many.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('gives nobody more scopes than they have', async () => {
    const fixture = await openFixture();
    const { registry, actor } = fixture;
    const [whole] = (await registry.keys.list(actor, { limit: 1 })).rows;
    const strong = await registry.keys.create(actor, { name: 'strong', scopes: ['write', 'approve'] });
    const weak = await actorOf(fixture, ['read', 'write', 'call']);
    const attempts = [
      registry.keys.create(weak, { name: 'x', scopes: ['*'] }),
      registry.keys.create(weak, { name: 'x', scopes: ['read', 'approve'] }),
      registry.keys.rotate(weak, strong.key.keyId),
      registry.keys.revoke(weak, strong.key.keyId),
      registry.keys.rotate(weak, whole?.keyId ?? ''),
      registry.keys.revoke(weak, whole?.keyId ?? ''),
    ];
    for (const { code } of await Promise.all(attempts.map(refusal))) expect(code).toBe('E_FORBIDDEN');
    expect(await registry.accounts.authenticate(strong.secret)).toBeDefined();
    const every = await actorOf(fixture, ['read', 'write', 'call', 'approve']);
    expect((await refusal(registry.keys.create(every, { name: 'x', scopes: ['*'] }))).code).toBe('E_FORBIDDEN');
    expect((await refusal(registry.keys.create({ ...weak, scopes: [] }, { name: 'x', scopes: ['read'] }))).code).toBe(
      'E_FORBIDDEN',
    );
    await registry.keys.create(weak, { name: 'equal', scopes: ['call', 'read'] });
  });

  test('of another account is not found', async () => {
    const { registry, actor, stranger } = await openFixture();
    const { key, secret } = await registry.keys.create(actor, { name: 'a', scopes: ['read'] });
    for (const keyId of [key.keyId, 'key_', `${key.keyId}\0`, '']) {
      expect(await messageOf(registry.keys.rotate(stranger, keyId))).toBe('E_NOT_FOUND: Key not found');
      expect(await messageOf(registry.keys.revoke(stranger, keyId))).toBe('E_NOT_FOUND: Key not found');
    }
    expect((await registry.keys.list(stranger, { limit: 10 })).rows).toHaveLength(1);
    expect(await registry.accounts.authenticate(secret)).toBeDefined();
  });

  test('refuses any other field', async () => {
    const refused = [
      [null, 'Request body must be an object'],
      [{ scopes: ['read'] }, 'name is required'],
      [{ name: 'default', scopes: ['*'] }, "name must not be default, which is the name of the account's own key"],
      [{ name: 'x' }, 'scopes must be a non-empty array of: *, read, write, call, approve, terminal'],
      [{ name: 'x', scopes: [] }, 'scopes must be a non-empty array of: *, read, write, call, approve, terminal'],
      [{ name: 'x', scopes: 'read' }, 'scopes must be a non-empty array of: *, read, write, call, approve, terminal'],
      [
        { name: 'x', scopes: ['admin'] },
        'scopes must be a non-empty array of: *, read, write, call, approve, terminal',
      ],
      [{ name: 'x', scopes: ['read'], expiresAt: 7 }, 'expiresAt must be a time such as 2030-01-31T12:00:00Z'],
      [{ name: 'x', scopes: ['read'], expiresAt: 'soon' }, 'expiresAt must be a time such as 2030-01-31T12:00:00Z'],
      [{ name: 'x', scopes: ['read'], expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt must be in the future'],
    ] as const;
    const { registry, actor } = await openFixture();
    for (const [body, message] of refused) {
      expect(await messageOf(registry.keys.create(actor, body)), message).toBe(message);
    }
    expect((await registry.keys.list(actor, { limit: 10 })).rows).toHaveLength(1);
  });

  test('has a unique name among valid keys, which count towards the quota', async () => {
    const fixture = await openFixture({ quotas: { keys: 3 } });
    const { registry, actor } = fixture;
    const { key } = await registry.keys.create(actor, { name: 'a', scopes: ['read'] });
    const taken = await refusal(registry.keys.create(actor, { name: 'a', scopes: ['read'] }));
    expect(taken).toMatchObject({ code: 'E_ALREADY_EXISTS', details: { id: key.keyId } });
    await registry.keys.create(actor, { name: 'b', scopes: ['read'] });
    expect((await refusal(registry.keys.create(actor, { name: 'c', scopes: ['read'] }))).code).toBe('E_QUOTA');
    await registry.keys.revoke(actor, key.keyId);
    await registry.keys.create(actor, { name: 'a', scopes: ['read'] });
  });
});
