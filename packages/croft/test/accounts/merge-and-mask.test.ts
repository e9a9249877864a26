import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AccountsFixture, auditOf, messageOf, openFixture } from './fixture.ts';

const masked = '********';
const secretNames = ['secret', 'clientSecret', 'TOKEN', 'access_token', 'privateKey', 'PRIVATE_KEY', 'credentials'];
const moreNames = [
  'kubeconfig',
  'certificateChain',
  'accessKey',
  'aws_access_key_id',
  'password',
  'dbPasswd',
  'apiKey',
];
const otherNames = [
  'x-api-key',
  'openaiApiKey',
  'api_key',
  'envVars',
  'private-key',
  'constructor',
  'toString',
  '0',
  '',
];
const plainNames = ['model', 'a', 'b', 'sub', 'list', 'url', 'ünï', 'hasOwnProperty', 'prototype', '1'];

const leaf = fc.oneof(fc.constantFrom('TEXT', 'NUMBER'), fc.boolean(), fc.string(), fc.constant(null));
const name = fc.constantFrom(...secretNames, ...moreNames, ...otherNames, ...plainNames);
const { tree } = fc.letrec<{ tree: unknown; leaf: unknown }>((tie) => ({
  leaf,
  tree: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    tie('leaf'),
    fc.dictionary(name, tie('tree'), { maxKeys: 5 }),
    fc.array(tie('tree'), { maxLength: 4 }),
  ),
}));
const settings = fc.dictionary(name, tree, { maxKeys: 6 }).filter((value) => !JSON.stringify(value).includes(masked));

/** Each text and number one of a kind, so that it is known wherever it turns up. */
function tell(value: unknown, seen = { count: 1_000_000 }): unknown {
  seen.count += 1;
  if (value === 'TEXT') return `mark${seen.count}`;
  if (value === 'NUMBER') return seen.count;
  if (Array.isArray(value)) return value.map((inner) => tell(inner, seen));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, tell(inner, seen)]));
}

function isSecretName(key: string): boolean {
  return [...secretNames, ...moreNames, ...otherNames.slice(0, 5)].includes(key);
}

/** Every text and number that lies below a secret name. */
function secretsIn(value: unknown, isBelow = false): (string | number)[] {
  if (typeof value === 'string' || typeof value === 'number') return isBelow ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => secretsIn(inner, isBelow || isSecretName(key)));
}

function leavesIn(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesIn) : [value];
}

async function newAgent({ registry, actor }: AccountsFixture, config: object) {
  return registry.agents.create(actor, { name: randomUUID(), config });
}

describe('a secret value', () => {
  test('is masked in every view, and a view sent back as a patch changes nothing', async () => {
    const fixture = await openFixture({ quotas: { agents: 10_000 } });
    const { registry, actor } = fixture;
    const property = fc.asyncProperty(settings, async (drawn) => {
      const config = tell(drawn) as object;
      const made = await newAgent(fixture, config);
      const shown = new Set(leavesIn(made.config));
      for (const secret of secretsIn(config)) {
        if (typeof secret === 'number' || secret.startsWith('mark')) expect(shown).not.toContain(secret);
      }
      const before = await registry.agents.open(actor.accountId, made.id);
      expect(secretsIn(before?.config).map(String).sort()).toEqual(secretsIn(config).map(String).sort());
      const after = await registry.agents.patch(actor, made.id, { config: made.config }, {});
      expect(after).toEqual(made);
      expect(await registry.agents.open(actor.accountId, made.id)).toEqual(before);
    });
    await fc.assert(property, { numRuns: 150 });
  });

  test('is masked in sandboxes: every environment variable, and options with secret names', async () => {
    const { registry, actor } = await openFixture();
    const config = {
      envVars: { HOME: '/root', A: '' },
      options: {
        e2b: { apiKey: 'k', region: 'eu', retries: 3 },
        tokens: ['a', { deep: ['b', 7] }],
        database: 'postgres://me:hunter2@db/x',
        maxTokens: 4096,
        isSecret: true,
      },
    };
    const { id } = await registry.sandboxes.create(actor, { name: 's', config });
    const expected = {
      envVars: { HOME: masked, A: masked },
      options: {
        e2b: { apiKey: masked, region: 'eu', retries: 3 },
        tokens: [masked, { deep: [masked, masked] }],
        database: masked,
        maxTokens: masked,
        isSecret: true,
      },
    };
    expect((await registry.sandboxes.get(actor, id)).config).toMatchObject(expected);
    expect((await registry.sandboxes.list(actor, { limit: 5 })).rows[0]?.config).toMatchObject(expected);
    expect((await registry.sandboxes.open(actor.accountId, id))?.config).toMatchObject(config);
  });

  test('is not found in the files of the store, nor in the audit trail', async () => {
    const fixture = await openFixture();
    const { registry, actor, directory } = fixture;
    const config = { envVars: { A: 'PLAINTEXTenv' }, options: { note: 'PLAINTEXTnote' } };
    const made = await registry.sandboxes.create(actor, { name: 's', config });
    await registry.sandboxes.patch(actor, made.id, { config: { envVars: { A: 'PLAINTEXTnew', B: 'PLAINTEXTb' } } }, {});
    await registry.agents.create(actor, { name: 'a', config: { system: 'PLAINTEXTagent' } });
    const auth = { type: 'secret', accessKeyId: 'AK', secretName: 'S3_SECRET' };
    const storage = { provider: 's3', bucket: 'PLAINTEXTbucket', auth };
    await registry.workspaces.create(actor, { name: 'w', config: { storage } });
    await registry.secrets.put(actor, 'TOKEN', { value: 'PLAINTEXTsecret' });
    const { secret } = await registry.keys.create(actor, { name: 'k', scopes: ['read'] });
    const files = readdirSync(directory).map((file) => readFileSync(join(directory, file)));
    expect(Buffer.concat(files).includes('sandbox.created')).toBe(true);
    for (const text of ['PLAINTEXT', secret, secret.slice(6)])
      expect(Buffer.concat(files).includes(text), text).toBe(false);
    const changed = (await auditOf(fixture, actor)).find(({ action }) => action === 'sandbox.changed');
    expect(JSON.parse(changed?.details ?? '')).toEqual({
      name: 's',
      changed: ['config.envVars.A', 'config.envVars.B'],
    });
  });

  test('cannot be opened in another row', async () => {
    const { registry, actor, stranger, records } = await openFixture();
    const mine = await registry.sandboxes.create(actor, { name: 's', config: { envVars: { A: 'mine' } } });
    const other = await registry.sandboxes.create(actor, { name: 't' });
    const theirs = await registry.sandboxes.create(stranger, { name: 's' });
    for (const { accountId, id } of [other, theirs]) {
      await records.change(async ({ sandboxes }) => {
        const [from, to] = [await sandboxes.get(actor.accountId, mine.id), await sandboxes.get(accountId, id)];
        if (!from || !to) throw new Error('no rows');
        expect(await sandboxes.update({ ...to, config: from.config, version: to.version + 1 })).toBe(true);
      });
      expect(await messageOf(registry.sandboxes.open(accountId, id))).toContain('E_INTERNAL');
    }
    // Also not in a row with the same id.
    await records.change(async ({ sandboxes }) => {
      const row = await sandboxes.get(actor.accountId, mine.id);
      if (row) await sandboxes.insert({ ...row, accountId: stranger.accountId, name: 'copied' });
    });
    expect(await messageOf(registry.sandboxes.open(stranger.accountId, mine.id))).toContain('E_INTERNAL');
  });
});

describe('a patch', () => {
  const stored = {
    model: { name: 'm', size: 1, token: 'T' },
    list: [1, 2, 3],
    servers: [
      { url: 'a', token: 'A' },
      { url: 'b', token: 'B' },
    ],
    tokens: ['x', 'y'],
  };

  test.each([
    [{ model: { size: 2 } }, { ...stored, model: { ...stored.model, size: 2 } }],
    [{ model: null }, { list: stored.list, servers: stored.servers, tokens: stored.tokens }],
    [{ model: { token: null, size: null } }, { ...stored, model: { name: 'm' } }],
    [{ list: [9] }, { ...stored, list: [9] }],
    [{ list: [] }, { ...stored, list: [] }],
    [{ model: 'other' }, { ...stored, model: 'other' }],
    [{ list: { a: 1 } }, { ...stored, list: { a: 1 } }],
    [{ model: masked }, stored],
    [{ fresh: { a: null, b: { c: null, d: 1 }, e: [null] } }, { ...stored, fresh: { b: { d: 1 }, e: [null] } }],
    [{ model: { token: masked, size: 5 } }, { ...stored, model: { ...stored.model, size: 5 } }],
    [{ servers: [{ url: 'b', token: masked }] }, { ...stored, servers: [stored.servers[1]] }],
    [
      { servers: [stored.servers[1], { url: 'a', token: masked }, { url: 'c' }] },
      { ...stored, servers: [stored.servers[1], stored.servers[0], { url: 'c' }] },
    ],
    [{ tokens: [masked, 'z'] }, { ...stored, tokens: ['x', 'z'] }],
    [{ absent: null }, stored],
  ])('%j', async (patch, expected) => {
    const fixture = await openFixture();
    const { id } = await newAgent(fixture, stored);
    await fixture.registry.agents.patch(fixture.actor, id, { config: patch }, {});
    expect((await fixture.registry.agents.open(fixture.actor.accountId, id))?.config).toEqual(expected);
  });

  test.each([
    [{ nothing: masked }, 'config.nothing'],
    [{ model: { other: masked } }, 'config.model.other'],
    [{ model: { token: { deep: masked } } }, 'config.model.token.deep'],
    // The secret of one server must not move to another.
    [{ servers: [{ url: 'evil', token: masked }] }, 'config.servers[0]'],
    [{ servers: [{ url: 'evil', token: masked }, stored.servers[1]] }, 'config.servers[0]'],
    [{ servers: [{ url: 'a', password: masked }] }, 'config.servers[0]'],
    [{ tokens: [masked] }, 'config.tokens[0]'],
    [{ leak: [masked, masked] }, 'config.leak[0]'],
    [{ list: [[masked]] }, 'config.list[0]'],
  ])('with a mask for no stored value is refused: %j', async (patch, path) => {
    const fixture = await openFixture();
    const made = await newAgent(fixture, stored);
    const message = await messageOf(fixture.registry.agents.patch(fixture.actor, made.id, { config: patch }, {}));
    expect(message).toMatch(/which keeps a stored value, but there is none/);
    expect(message.startsWith(`${path} is `)).toBe(true);
    expect(await fixture.registry.agents.get(fixture.actor, made.id)).toEqual(made);
    expect(await messageOf(newAgent(fixture, patch))).toContain(`${path} is ${masked}`);
  });

  test('with the name of a prototype is harmless', async () => {
    const fixture = await openFixture();
    const { registry, actor } = fixture;
    const made = await newAgent(fixture, { model: { a: 1 } });
    const poisons = [
      '{"__proto__":{"polluted":1}}',
      '{"model":{"__proto__":{"polluted":1}}}',
      '{"l":[{"__proto__":1}]}',
    ];
    for (const poison of poisons) {
      const config = JSON.parse(poison);
      expect(await messageOf(registry.agents.patch(actor, made.id, { config }, {}))).toContain('__proto__');
      expect(await messageOf(newAgent(fixture, config))).toContain('__proto__');
    }
    const config = { constructor: { prototype: { polluted: 1 } }, toString: { call: { polluted: 1 } } };
    await registry.agents.patch(actor, made.id, { config }, {});
    expect((await registry.agents.open(actor.accountId, made.id))?.config).toEqual({ model: { a: 1 }, ...config });
    await registry.agents.patch(actor, made.id, { config: { constructor: null, toString: null } }, {});
    expect((await registry.agents.open(actor.accountId, made.id))?.config).toEqual({ model: { a: 1 } });
    expect(await messageOf(registry.agents.patch(actor, made.id, { config: { valueOf: masked } }, {}))).toContain(
      'none',
    );
    expect({}).not.toHaveProperty('polluted');
    expect(Object).not.toHaveProperty('polluted');
  });

  test('is limited in depth and size, and so is its result', async () => {
    const fixture = await openFixture();
    const { registry, actor } = fixture;
    const made = await newAgent(fixture, {});
    const patch = (config: object) => registry.agents.patch(actor, made.id, { config }, {});
    let deep: object = {};
    for (let depth = 0; depth < 20_000; depth += 1) deep = depth % 2 ? { a: deep } : [deep];
    expect(await messageOf(patch({ deep }))).toBe('Request body is nested more than 32 levels deep');
    expect(await messageOf(newAgent(fixture, { deep }))).toBe('Request body is nested more than 32 levels deep');
    expect(await messageOf(patch({ big: 'x'.repeat(300_000) }))).toContain('at most 262144');
    await patch({ a: 'x'.repeat(200_000) });
    expect(await messageOf(patch({ b: 'x'.repeat(200_000) }))).toContain('at most 262144');
    expect((await registry.agents.get(actor, made.id)).version).toBe(2);
  });
});
