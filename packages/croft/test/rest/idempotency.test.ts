import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adminToken, codeOf, openFixture, type RestFixture } from './fixture.ts';

let fixture: RestFixture;
let token: string;

beforeAll(async () => {
  fixture = await openFixture({ limits: { requestsPerMinute: 100_000 } });
  ({ token } = await fixture.addAccount('ann'));
});

afterAll(() => fixture[Symbol.asyncDispose]());

let count = 0;
function newKey(): string {
  count += 1;
  return `key-${count}`;
}

function post(path: string, body: unknown, key: string, as = token) {
  return fixture.send('POST', path, { token: as, body, headers: { 'Idempotency-Key': key } });
}

const creations = [
  ['/v1/sandboxes', (name: string) => ({ name, config: {} }), 'sandboxes', () => token],
  ['/v1/workspaces', (name: string) => ({ name, config: {} }), 'workspaces', () => token],
  ['/v1/agents', (name: string) => ({ name, config: {} }), 'agents', () => token],
  ['/accounts/me/keys', (name: string) => ({ name, scopes: ['read'] }), 'api_keys', () => token],
  ['/v1/runners', (name: string) => ({ name: name.replaceAll(' ', '-') }), 'api_keys', () => token],
  ['/accounts', (username: string) => ({ username }), 'accounts', () => adminToken],
] as const;

describe.each(creations)('POST %s', (path, toBody, table, as) => {
  const rows = () => fixture.dump()[table]?.length ?? 0;

  test('with a key runs once, and is answered the same again', async () => {
    const key = newKey();
    const before = rows();
    const first = await post(path, toBody(`once ${table}`), key, as());
    expect(first.status, first.text).toBe(201);
    expect(first.headers.has('idempotent-replay')).toBe(false);
    for (const _ of ['second', 'third']) {
      const again = await post(path, toBody(`once ${table}`), key, as());
      expect(again).toMatchObject({ status: 201, text: first.text });
      expect(again.headers.get('idempotent-replay')).toBe('true');
      expect(again.headers.get('etag')).toBe(first.headers.get('etag'));
    }
    expect(rows()).toBe(before + 1);
  });

  test('with one key in concurrent requests creates one record', async () => {
    const key = newKey();
    const before = rows();
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => post(path, toBody(`raced ${table}`), key, as())),
    );
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.every(({ status }) => status === 201)).toBe(true);
    expect(answers.filter(({ headers }) => headers.get('idempotent-replay') === 'true')).toHaveLength(11);
    expect(rows()).toBe(before + 1);
  });

  test('with a key that was used for another body is refused', async () => {
    const key = newKey();
    await post(path, toBody(`kept ${table}`), key, as());
    const before = fixture.dump();
    const answer = await post(path, toBody(`other ${table}`), key, as());
    expect(answer.status).toBe(409);
    expect(codeOf(answer)).toBe('E_IDEMPOTENCY_CONFLICT');
    expect(fixture.dump()).toEqual(before);
  });

  test('with a key whose request was refused may be tried again', async () => {
    const key = newKey();
    const before = fixture.dump();
    expect(await post(path, { nonsense: true }, key, as())).toMatchObject({ status: 400 });
    expect(fixture.dump()).toEqual(before);
    expect(await post(path, toBody(`at last ${table}`), key, as())).toMatchObject({ status: 201 });
  });

  test('a day later creates another record', async () => {
    const key = newKey();
    const first = await post(path, toBody(`today ${table}`), key, as());
    fixture.clock.aheadMs += 24 * 60 * 60 * 1000 + 1000;
    const later = await post(path, toBody(`tomorrow ${table}`), key, as());
    expect(later.status, later.text).toBe(201);
    expect(later.text).not.toBe(first.text);
    expect(later.headers.has('idempotent-replay')).toBe(false);
    expect(fixture.dump().requests).toHaveLength(1);
  });
});

test('a key used for the same body on another route is another request', async () => {
  const key = newKey();
  const body = { name: 'elsewhere', config: {} };
  await post('/v1/sandboxes', body, key);
  expect(await post('/v1/workspaces', body, key)).toMatchObject({ status: 409 });
});

test('two accounts may use the same key', async () => {
  const other = await fixture.addAccount('bob');
  const key = newKey();
  const body = { name: 'of two', config: {} };
  const mine = await post('/v1/sandboxes', body, key);
  const theirs = await post('/v1/sandboxes', body, key, other.token);
  expect(theirs).toMatchObject({ status: 201, json: { accountId: other.accountId } });
  expect(theirs.json.sandboxId).not.toBe(mine.json.sandboxId);
});

test('the answer for one key of an account is not given to another key', async () => {
  const writer = await fixture.send('POST', '/v1/keys', { token, body: { name: 'writer', scopes: ['write'] } });
  const key = newKey();
  const body = { name: 'everything', scopes: ['*'] };
  const made = await post('/v1/keys', body, key);
  const answer = await post('/v1/keys', body, key, writer.json.secret);
  expect(answer.status).toBe(409);
  expect(answer.text).not.toContain(made.json.secret);
});

test('a stored answer cannot be read in the database', async () => {
  const { secret } = (await post('/v1/keys', { name: 'sealed', scopes: ['read'] }, newKey())).json;
  expect(JSON.stringify(fixture.dump().requests)).toContain('key-');
  expect(JSON.stringify(fixture.dump())).not.toContain(secret);
});

test('a secret replaced twice with one key was replaced once', async () => {
  const account = await fixture.addAccount('rotating');
  const rotate = () => post(`/accounts/${account.accountId}/rotate-secret`, {}, 'rotate-it', adminToken);
  const first = await rotate();
  const again = await rotate();
  expect(again.json.secret).toBe(first.json.secret);
  expect(await fixture.send('GET', '/v1/account', { token: first.json.secret })).toMatchObject({ status: 200 });
});

test.each(['a b', 'x'.repeat(256), ''])('a key such as %j is refused', async (key) => {
  const before = fixture.dump();
  const answer = await post('/v1/sandboxes', { name: 'unkeyed', config: {} }, key);
  expect(answer).toMatchObject({ status: 400, json: { error: { details: { header: 'Idempotency-Key' } } } });
  expect(fixture.dump()).toEqual(before);
});
