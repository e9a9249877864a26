import { describe, expect, test } from 'vitest';
import { findBreak } from '../../src/core/accounts/ports/audit-chain.ts';
import { type AccountsFixture, auditOf, messageOf, openFixture, refusal } from './fixture.ts';

const kinds = ['agents', 'sandboxes', 'workspaces'] as const;
const prefixes = { agents: 'agent', sandboxes: 'sb', workspaces: 'ws' } as const;
const titles = { agents: 'Agent', sandboxes: 'Sandbox', workspaces: 'Workspace' } as const;

/** One that holds for all three, whose configs differ. */
const pick = (fixture: AccountsFixture, kind: (typeof kinds)[number]) =>
  fixture.registry[kind] as AccountsFixture['registry']['agents'];

describe.each(kinds)('%s', (kind) => {
  const title = titles[kind];

  test('are created, read, changed and removed, each with an audit row', async () => {
    const fixture = await openFixture();
    const { actor, records } = fixture;
    const records1 = pick(fixture, kind);
    const made = await records1.create(actor, { name: '  one ', description: 'first' });
    expect(made).toMatchObject({ accountId: actor.accountId, name: 'one', description: 'first', version: 1 });
    expect(made.id).toMatch(new RegExp(`^${prefixes[kind]}_[0-9a-f]{24}$`));
    expect(await records1.get(actor, made.id)).toEqual(made);
    const renamed = await records1.patch(actor, made.id, { name: 'two', description: null }, { version: 1 });
    expect(renamed).toMatchObject({ name: 'two', version: 2 });
    expect(renamed).not.toHaveProperty('description');
    expect(await records1.patch(actor, made.id, { name: 'two' }, {})).toEqual(renamed);
    await records1.remove(actor, made.id, { version: 2 });
    expect(await messageOf(records1.get(actor, made.id))).toBe(`E_NOT_FOUND: ${title} not found`);
    const rows = (await auditOf(fixture, actor)).filter(({ target }) => target === made.id);
    const one = title.toLowerCase();
    expect(rows.map(({ action }) => action)).toEqual([`${one}.created`, `${one}.changed`, `${one}.removed`]);
    expect(rows.map((row) => row.actor)).toEqual(Array(3).fill(actor.label));
    expect(JSON.parse(rows[1]?.details ?? '')).toEqual({ name: 'two', changed: ['name', 'description'] });
    const all = await records.read(({ audit }) => audit.list({}, { limit: 1000 }));
    expect(findBreak(all.rows)).toBeUndefined();
  });

  test('of another account are not found', async () => {
    const fixture = await openFixture();
    const { actor, stranger } = fixture;
    const collection = pick(fixture, kind);
    const { id, ...rest } = await collection.create(actor, { name: 'mine' });
    const attempts = [
      collection.get(stranger, id),
      collection.patch(stranger, id, { name: 'theirs' }, {}),
      collection.remove(stranger, id, {}),
    ];
    for (const message of await Promise.all(attempts.map(messageOf)))
      expect(message).toBe(`E_NOT_FOUND: ${title} not found`);
    expect(await collection.open(stranger.accountId, id)).toBeUndefined();
    expect((await collection.list(stranger, { limit: 10 })).rows).toEqual([]);
    expect(await collection.get(actor, id)).toEqual({ id, ...rest });
    // The same name is free there.
    await collection.create(stranger, { name: 'mine' });
  });

  test('are found only by ids', async () => {
    const fixture = await openFixture();
    const collection = pick(fixture, kind);
    const { id } = await collection.create(fixture.actor, { name: 'x' });
    const others = [
      '',
      '%',
      'sb_',
      `${id}x`,
      ` ${id}`,
      id.toUpperCase(),
      `${id}\0`,
      '\uD800',
      "' OR 1=1 --",
      'x'.repeat(1e5),
    ];
    for (const other of others) {
      expect(await messageOf(collection.get(fixture.actor, other))).toBe(`E_NOT_FOUND: ${title} not found`);
      expect(await collection.open(fixture.actor.accountId, other)).toBeUndefined();
    }
  });

  test('have unique names, and a refusal has the id that uses the name', async () => {
    const fixture = await openFixture();
    const { actor } = fixture;
    const collection = pick(fixture, kind);
    const first = await collection.create(actor, { name: 'caf\u00e9' });
    const second = await collection.create(actor, { name: 'tea' });
    for (const name of ['caf\u00e9', ' cafe\u0301 ']) {
      const error = await refusal(collection.create(actor, { name }));
      expect(error).toMatchObject({ code: 'E_ALREADY_EXISTS', details: { id: first.id } });
      expect(error.message).toBe(`${title} name already exists: caf\u00e9`);
    }
    const error = await refusal(collection.patch(actor, second.id, { name: 'caf\u00e9' }, {}));
    expect(error).toMatchObject({ code: 'E_ALREADY_EXISTS', details: { id: first.id } });
    const many = await Promise.allSettled(Array.from({ length: 10 }, () => collection.create(actor, { name: 'race' })));
    expect(many.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('refuse unknown fields, and store nothing', async () => {
    const refused = [
      [undefined, 'Request body must be an object'],
      [null, 'Request body must be an object'],
      [[], 'Request body must be an object'],
      ['x', 'Request body must be an object'],
      [{}, 'name is required'],
      [{ name: ' \t ' }, 'name is required'],
      [{ name: null }, 'name must be a string'],
      [{ name: 7 }, 'name must be a string'],
      [{ name: ['x'] }, 'name must be a string'],
      [{ name: 'a\nb' }, 'name must not have control characters'],
      [{ name: 'a\0' }, 'name must not have control characters'],
      [{ name: '\uD800' }, 'name must not have control characters'],
      [{ name: 'x'.repeat(201) }, 'name must be at most 200 characters long'],
      [{ name: 'x', description: 7 }, 'description must be a string'],
      [{ name: 'x', description: 'a\0' }, 'description must be text without NUL'],
      [{ name: 'x', description: 'x'.repeat(2001) }, 'description must be at most 2000 characters long'],
      [{ name: 'x', config: null }, 'config must be an object'],
      [{ name: 'x', config: [] }, 'config must be an object'],
      [{ name: 'x', config: 'x' }, 'config must be an object'],
    ] as const;
    const fixture = await openFixture();
    for (const [body, message] of refused) {
      expect(await messageOf(pick(fixture, kind).create(fixture.actor, body)), message).toBe(message);
    }
    expect(await auditOf(fixture, fixture.actor)).toHaveLength(1);
  });

  test('refuse an empty patch and an invalid patch', async () => {
    const fixture = await openFixture();
    const collection = pick(fixture, kind);
    const made = await collection.create(fixture.actor, { name: 'x' });
    const refused = [
      [null, 'Request body must be an object'],
      [{}, 'Request body must include name, description or config'],
      [{ nmae: 'y' }, 'Request body must include name, description or config'],
      [{ name: null }, 'name must be a string'],
      [{ name: '' }, 'name is required'],
      [{ config: null }, 'config must be an object'],
      [{ config: [] }, 'config must be an object'],
    ] as const;
    for (const [body, message] of refused) {
      expect(await messageOf(collection.patch(fixture.actor, made.id, body, {}))).toBe(message);
    }
    expect(await collection.get(fixture.actor, made.id)).toEqual(made);
  });

  test('change only against the version that the caller saw', async () => {
    const fixture = await openFixture();
    const { actor } = fixture;
    const collection = pick(fixture, kind);
    const { id } = await collection.create(actor, { name: 'x' });
    await collection.patch(actor, id, { description: 'a' }, { version: 1 });
    for (const version of [0, 1, 3, -1, Number.NaN]) {
      const attempts = [
        collection.patch(actor, id, { description: 'b' }, { version }),
        collection.remove(actor, id, { version }),
      ];
      for (const { code } of await Promise.all(attempts.map(refusal))) expect(code).toBe('E_PRECONDITION_FAILED');
    }
    const race = Array.from({ length: 10 }, (_, i) =>
      collection.patch(actor, id, { description: `r${i}` }, { version: 2 }),
    );
    expect((await Promise.allSettled(race)).filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect((await collection.get(actor, id)).version).toBe(3);
  });

  test('are listed in pages, each once', async () => {
    const fixture = await openFixture();
    const { actor } = fixture;
    const collection = pick(fixture, kind);
    const names = Array.from({ length: 7 }, (_, index) => `n${index}`);
    for (const name of names) await collection.create(actor, { name });
    const seen: string[] = [];
    let after: string | undefined;
    do {
      const page = await collection.list(actor, { limit: 3, after });
      seen.push(...page.rows.map(({ name }) => name));
      after = page.next;
    } while (after !== undefined);
    expect(seen).toEqual(names);
  });

  test('cannot exceed the quota, however many are created at once', async () => {
    const fixture = await openFixture({ quotas: { [kind]: 3 } });
    const collection = pick(fixture, kind);
    const made = Array.from({ length: 8 }, (_, index) => collection.create(fixture.actor, { name: `n${index}` }));
    const outcomes = await Promise.allSettled(made);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    expect(await refusal(collection.create(fixture.actor, { name: 'more' }))).toMatchObject({
      code: 'E_QUOTA',
      details: { max: 3 },
    });
    const [first] = (await collection.list(fixture.actor, { limit: 1 })).rows;
    await collection.remove(fixture.actor, first?.id ?? '', {});
    await collection.create(fixture.actor, { name: 'more' });
  });
});

test('apply all concurrent patches without a version', async () => {
  const { registry, actor } = await openFixture();
  const { id } = await registry.agents.create(actor, { name: 'a' });
  const keys = Array.from({ length: 20 }, (_, index) => `k${index}`);
  await Promise.all(keys.map((key) => registry.agents.patch(actor, id, { config: { [key]: 1 } }, {})));
  const agent = await registry.agents.get(actor, id);
  expect(Object.keys(agent.config).sort()).toEqual(keys.sort());
  expect(agent.version).toBe(21);
});

test('a workspace has its defaults and knows its storages', async () => {
  const fixture = await openFixture();
  const { registry, actor } = fixture;
  const of = async (name: string, config?: unknown) =>
    (await registry.workspaces.create(actor, { name, config })).config;
  expect(await of('a')).toEqual({ storage: { provider: 'local' } });
  expect(await of('b', { storage: { provider: 'local', bucket: 'x' }, other: 1, isolation: false })).toEqual({
    storage: { provider: 'local' },
  });
  const s3 = { provider: 's3', bucket: 'b', auth: { type: 'secret', accessKeyId: 'AK', secretName: 'S3_SECRET' } };
  const harness = { enabled: false, memory: { enabled: true } };
  // A name that says secret hides what it holds, also where that is only the name of one.
  const shown = { ...s3, auth: { type: 'secret', accessKeyId: '********', secretName: '********' } };
  expect(await of('c', { storage: s3, harness, isolation: true })).toEqual({
    storage: shown,
    harness,
    isolation: true,
  });
  const refused = [
    [{ storage: 'local' }, 'config.storage must be an object'],
    [{ storage: { provider: 'gcs' } }, 'config.storage.provider must be one of: local, s3'],
    [{ storage: { provider: null } }, 'config.storage.provider must be one of: local, s3'],
    [{ storage: { auth: { type: 'keys' } } }, 'config.storage.auth.type must be one of: managed, assumeRole, secret'],
    [{ storage: { auth: { type: 'assumeRole' } } }, 'config.storage.auth.roleArn must be a non-empty string'],
    [
      { storage: { auth: { type: 'secret', accessKeyId: 'x' } } },
      'config.storage.auth.secretName must be a non-empty string',
    ],
    [{ storage: { endpoint: 'file:///etc' } }, 'config.storage.endpoint must be an http or https URL'],
    [{ storage: { ...s3, bucket: undefined } }, 'config.storage.bucket must be a non-empty string'],
    [
      { storage: { ...s3, auth: { type: 'assumeRole', roleArn: 'arn:x' } } },
      'config.storage.auth.type must be managed or secret: this server has no way to assume a role',
    ],
    ...[
      { ...s3, auth: { type: 'managed' } },
      { provider: 's3', bucket: 'b' },
    ].map(
      (storage) =>
        [
          { storage },
          "config.storage.bucket must be left out: managed storage is the server's own bucket. For another, set auth.type to secret",
        ] as const,
    ),
    [{ isolation: 1 }, 'config.isolation must be a boolean'],
    [{ harness: true }, 'config.harness must be an object'],
    [{ harness: { enabled: 'no' } }, 'config.harness.enabled must be a boolean'],
    [{ harness: { memory: { enabled: 0 } } }, 'config.harness.memory.enabled must be a boolean'],
  ] as const;
  for (const [config, message] of refused) expect(await messageOf(of('d', config))).toBe(message);
});

test('a storage that is not registered is refused', async () => {
  const { registry, actor } = await openFixture({ storages: ['local'] });
  const s3 = { name: 'w', config: { storage: { provider: 's3' } } };
  expect(await messageOf(registry.workspaces.create(actor, s3))).toBe('config.storage.provider must be one of: local');
});
