import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { matchPath } from '../../src/rest/dispatch/match-path.ts';
import type { HttpMethod } from '../../src/rest/platform/route.ts';
import { adminToken, codeOf, openFixture, type RestFixture, type SendOptions } from './fixture.ts';

let fixture: RestFixture;
let token: string;
let accountId: string;

beforeAll(async () => {
  fixture = await openFixture();
  ({ token, accountId } = await fixture.addAccount('ann'));
});

afterAll(() => fixture[Symbol.asyncDispose]());

/** Like `send`, and checks the answer against its declared schema. */
async function ask(method: HttpMethod, path: string, options: SendOptions = {}) {
  const answer = await fixture.send(method, path, { token, ...options });
  const route = matchPath(new URL(path, fixture.url).pathname)?.endpoint.routes[method];
  if (answer.status < 300) {
    expect(answer.headers.has('etag')).toBe(route?.versioned === true);
    expect(answer.status).toBe(route?.status ?? 200);
    expect(route?.answer?.parse(answer.json), answer.text).toEqual(answer.json);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  }
  return answer;
}

const kinds = [
  { name: 'sandboxes', id: 'sandboxId', title: 'Sandbox', prefix: 'sb', config: { provider: 'bubblewrap' } },
  {
    name: 'workspaces',
    id: 'workspaceId',
    title: 'Workspace',
    prefix: 'ws',
    config: { storage: { provider: 'local' } },
  },
  { name: 'agents', id: 'agentId', title: 'Agent', prefix: 'agent', config: { model: { name: 'any' } } },
] as const;

describe.each(kinds)('$name', ({ name, id, title, prefix, config }) => {
  const roots = () => [`/v1/${name}`, `/accounts/me/${name}`, `/accounts/${accountId}/${name}`] as const;

  test('are created, shown, listed, changed and deleted on every route', async () => {
    for (const [index, root] of roots().entries()) {
      const as = index === 2 ? { token: adminToken } : {};
      const body = { name: `${name} ${index}`, description: 'of a test', config };
      const made = await ask('POST', root, { ...as, body });
      expect(made.status, made.text).toBe(201);
      const one = `${root}/${made.json[id]}`;
      const shown = await ask('GET', one, as);
      expect(shown.json).toMatchObject({ accountId, [id]: made.json[id], name: body.name, config, version: 1 });
      expect(shown.json).not.toHaveProperty('id');
      expect(made.json[id]).toMatch(new RegExp(`^${prefix}_[0-9a-f]{24}$`));
      if (name !== 'agents') expect(made.json).toEqual(shown.json);
      else expect(made.json).toEqual({ accountId, agentId: made.json[id], name: body.name, description: 'of a test' });

      const listed = await ask('GET', root, as);
      expect(Object.keys(listed.json)).toEqual([name]);
      expect(listed.json[name]).toContainEqual(shown.json);

      const changed = await ask('PATCH', one, { ...as, body: { description: null } });
      expect(changed.json).toMatchObject({ version: 2, config });
      expect(changed.json).not.toHaveProperty('description');

      expect((await ask('DELETE', one, as)).json).toEqual({ deleted: true });
      for (const method of ['GET', 'PATCH', 'DELETE'] as const) {
        const gone = await ask(method, one, { ...as, ...(method === 'PATCH' && { body: { name: 'x' } }) });
        expect(gone).toMatchObject({ status: 404, json: { error: { message: `${title} not found` } } });
      }
    }
  });

  test('have their version as an ETag, and change only against the current version', async () => {
    const made = await ask('POST', `/v1/${name}`, { body: { name: 'tagged', config } });
    const one = `/v1/${name}/${made.json[id]}`;
    const patch = (match: string, text: string) =>
      ask('PATCH', one, { headers: { 'If-Match': match }, body: { description: text } });
    const tag = (await ask('GET', one)).headers.get('etag') ?? '';
    expect(made.headers.get('etag')).toBe('"1"');
    expect(tag).toBe('"1"');

    expect((await patch(tag, 'first')).headers.get('etag')).toBe('"2"');
    const before = fixture.dump();
    for (const old of [tag, '"3"', '"abc"', '""', 'W/"1"', '"01"']) {
      const answer = await patch(old, 'second');
      expect(answer.status, old).toBe(412);
      expect(codeOf(answer)).toBe('E_PRECONDITION_FAILED');
      expect(await ask('DELETE', one, { headers: { 'If-Match': old } })).toMatchObject({ status: 412 });
    }
    for (const malformed of ['1', '"1', 'abc', '"1", "2"', '""1""', '**', 'w/"1"']) {
      expect(await patch(malformed, 'second')).toMatchObject({ status: 400 });
      expect(await ask('DELETE', one, { headers: { 'If-Match': malformed } })).toMatchObject({ status: 400 });
    }
    expect(fixture.dump()).toEqual(before);

    expect((await patch('*', 'third')).headers.get('etag')).toBe('"3"');
    expect((await patch('W/"3"', 'fourth')).headers.get('etag')).toBe('"4"');
    expect(await ask('DELETE', one, { headers: { 'If-Match': '"4"' } })).toMatchObject({ status: 200 });
  });

  test('change once for two requests against one version', async () => {
    const made = await ask('POST', `/v1/${name}`, { body: { name: 'raced', config } });
    const one = `/v1/${name}/${made.json[id]}`;
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        ask('PATCH', one, { headers: { 'If-Match': '"1"' }, body: { description: `of ${index}` } }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(412)]);
    expect((await ask('GET', one)).json).toEqual(answers.find(({ status }) => status === 200)?.json);
    await ask('DELETE', one);
  });

  test('have unique names, and a refusal names the record with the name', async () => {
    const made = await ask('POST', `/v1/${name}`, { body: { name: 'only one', config } });
    const again = await ask('POST', `/v1/${name}`, { body: { name: 'only one', config } });
    expect(again).toMatchObject({
      status: 409,
      json: { error: { code: 'E_ALREADY_EXISTS', message: `${title} name already exists: only one` } },
    });
    expect(again.json.error.details.id).toBe(made.json[id]);
    await ask('DELETE', `/v1/${name}/${made.json[id]}`);
  });

  test('can be created with a name alone', async () => {
    const made = await ask('POST', `/v1/${name}`, { body: { name: 'bare' } });
    expect(made.status, made.text).toBe(201);
    await ask('DELETE', `/v1/${name}/${made.json[id]}`);
  });
});

test('a record that an agent uses is not deleted, and the refusal names the agent', async () => {
  const { sandboxId } = (await ask('POST', '/v1/sandboxes', { body: { name: 'used', config: {} } })).json;
  const body = { name: 'user', config: { sandbox: sandboxId } };
  const { agentId } = (await ask('POST', '/v1/agents', { body })).json;
  const before = fixture.dump();
  const answer = await ask('DELETE', `/v1/sandboxes/${sandboxId}`);
  expect(answer).toMatchObject({ status: 409, json: { error: { code: 'E_IN_USE' } } });
  expect(JSON.stringify(answer.json.error.details.usedBy)).toContain(agentId);
  expect(fixture.dump()).toEqual(before);
});

test('secret values are masked everywhere, and kept by their mask', async () => {
  const config = { envVars: { PLAIN: 'the-value' }, options: { apiKey: 'the-other-value', note: 'seen' } };
  const made = await ask('POST', '/v1/sandboxes', { body: { name: 'secretive', config } });
  const one = `/v1/sandboxes/${made.json.sandboxId}`;
  const changed = await ask('PATCH', one, { body: { config: { ...made.json.config, timeout: 60 } } });
  const texts = [
    made,
    changed,
    await ask('GET', one),
    await ask('GET', '/v1/sandboxes'),
    await ask('GET', '/v1/audit'),
  ];
  for (const { text } of texts) expect(text).not.toMatch(/the-(other-)?value/);
  expect(changed.json.config).toMatchObject({ envVars: { PLAIN: '********' }, options: { note: 'seen' }, timeout: 60 });
  const opened = await fixture.registry.sandboxes.open(accountId, made.json.sandboxId);
  expect(opened?.config).toMatchObject(config);
  expect(JSON.stringify(fixture.dump())).not.toMatch(/the-(other-)?value/);
});

test('secrets are written, listed by name and deleted, and never returned', async () => {
  const value = 'never-to-be-seen';
  const put = await ask('PUT', '/v1/secrets/DATABASE_URL', { body: { value } });
  expect(put.json).toEqual({ name: 'DATABASE_URL', updatedAt: expect.any(String) });
  const listed = await ask('GET', '/v1/secrets');
  expect(listed.json).toEqual({ secrets: [put.json] });
  expect((await fixture.registry.secrets.openAll(accountId)).get('DATABASE_URL')).toBe(value);
  for (const { text } of [put, listed, await ask('GET', '/v1/audit')]) expect(text).not.toContain(value);
  expect((await ask('DELETE', '/accounts/me/secrets/DATABASE_URL')).json).toEqual({ deleted: true });
  expect(await ask('DELETE', '/v1/secrets/DATABASE_URL')).toMatchObject({ status: 404 });
});

test('keys are created, used, replaced and revoked, and their secrets are returned once', async () => {
  const made = await ask('POST', '/v1/keys', { body: { name: 'reader', scopes: ['read'] } });
  const { key, secret } = made.json;
  expect(await fixture.send('GET', '/v1/account', { token: secret })).toMatchObject({ status: 200 });
  const rotated = await ask('POST', `/v1/keys/${key.keyId}/rotate`);
  expect(rotated.json.key).toMatchObject({ name: 'reader', scopes: ['read'] });
  expect(await fixture.send('GET', '/v1/account', { token: secret })).toMatchObject({ status: 401 });
  expect(await fixture.send('GET', '/v1/account', { token: rotated.json.secret })).toMatchObject({ status: 200 });
  expect((await ask('DELETE', `/v1/keys/${rotated.json.key.keyId}`)).json).toEqual({ deleted: true });
  expect(await fixture.send('GET', '/v1/account', { token: rotated.json.secret })).toMatchObject({ status: 401 });
  const listed = await ask('GET', '/v1/keys');
  expect(listed.text).not.toContain(secret);
  expect(JSON.stringify(fixture.dump())).not.toContain(secret);
});

test('an account is shown and changed by its key, and only against the version it has', async () => {
  const shown = await ask('GET', '/v1/account');
  expect(shown.json).toEqual((await ask('GET', '/accounts/me')).json);
  const tag = shown.headers.get('etag') ?? '';
  const changed = await ask('PATCH', '/accounts/me', {
    body: { description: 'changed' },
    headers: { 'If-Match': tag },
  });
  expect(changed.json.account).toMatchObject({ username: 'ann', description: 'changed', version: 2 });
  const before = fixture.dump();
  const stale = await ask('PATCH', '/v1/account', { body: { username: 'eve' }, headers: { 'If-Match': tag } });
  expect(stale).toMatchObject({ status: 412, json: { error: { code: 'E_PRECONDITION_FAILED' } } });
  expect(await ask('DELETE', '/v1/account', { headers: { 'If-Match': tag } })).toMatchObject({ status: 412 });
  expect(await ask('PATCH', '/v1/account', { body: {} })).toMatchObject({ status: 400 });
  expect(fixture.dump()).toEqual(before);
});

test('the secret of an account is replaced, and the old one is refused at once', async () => {
  const other = await fixture.addAccount('rotating');
  const spare = await fixture.send('POST', '/v1/keys', { token: other.token, body: { name: 'spare', scopes: ['*'] } });
  const rotated = await ask('POST', '/accounts/me/rotate-secret', { token: other.token });
  expect(rotated.json.account.accountId).toBe(other.accountId);
  expect(await fixture.send('GET', '/v1/account', { token: other.token })).toMatchObject({ status: 401 });
  expect(await fixture.send('GET', '/v1/account', { token: rotated.json.secret })).toMatchObject({ status: 200 });
  expect(await fixture.send('GET', '/v1/account', { token: spare.json.secret })).toMatchObject({ status: 200 });
});

test.each([
  [
    'sandboxes',
    { timout: 5, network: { mode: 'restricted', allowDomain: ['x.example'] } },
    ['timout', 'network.allowDomain'],
  ],
  [
    'workspaces',
    { storage: { provider: 'local', buckett: 'b' }, harness: { memory: { on: true } } },
    ['storage.buckett', 'harness.memory.on'],
  ],
  // An agent keeps the settings of its caller.
  ['agents', { model: { name: 'any' }, anything: [1] }, []],
] as const)('%s: a field that means nothing is dropped, and the answer names it', async (name, config, dropped) => {
  const ignored = dropped.map((field) => `config.${field}`);
  const made = await ask('POST', `/v1/${name}`, { body: { name: 'misspelt', descripton: 'x', config } });
  expect(made.json.ignored).toEqual(['descripton', ...ignored]);
  const path = `/v1/${name}/${made.json.sandboxId ?? made.json.workspaceId ?? made.json.agentId}`;
  expect((await ask('GET', path)).json.ignored).toBeUndefined();
  const patched = await ask('PATCH', path, { body: { config, nam: null } });
  expect(patched.json.ignored).toEqual([...ignored, 'nam']);
  expect((await ask('PATCH', path, { body: { description: 'none' } })).json.ignored).toBeUndefined();
});
