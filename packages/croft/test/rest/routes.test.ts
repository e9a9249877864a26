import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endpoints } from '../../src/rest/dispatch/match-path.ts';
import type { HttpMethod, Route } from '../../src/rest/platform/route.ts';
import { fillAccount, fillPath, type Ids } from './fill-account.ts';
import { adminToken, codeOf, openFixture, type RestFixture, serverToken } from './fixture.ts';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const scopes = ['read', 'write', 'call', 'approve', 'terminal'] as const;

let fixture: RestFixture;
let account: { accountId: string; token: string };
let ids: Ids & { accountId: string };
const keys: Record<string, string> = {};

beforeAll(async () => {
  fixture = await openFixture({ limits: { requestsPerMinute: 100_000, refusalsPerMinute: 100_000 } });
  account = await fixture.addAccount('ann');
  ids = { ...(await fillAccount(fixture, account.token)), accountId: account.accountId };
  for (const scope of scopes) {
    const body = { name: scope, scopes: [scope] };
    keys[scope] = (await fixture.send('POST', '/v1/keys', { token: account.token, body })).json.secret;
  }
});

afterAll(() => fixture[Symbol.asyncDispose]());

const all = endpoints.flatMap(({ pattern, audience, routes }) =>
  Object.values(routes).map((route: Route) => ({ name: `${route.method} ${pattern}`, pattern, audience, route })),
);

test('the routes include those of the specification', () => {
  expect(endpoints.map(({ pattern }) => pattern)).toEqual(expect.arrayContaining(['/v1/account', '/accounts/me']));
  expect(all.length).toBeGreaterThan(80);
});

describe.each(all)('$name', ({ pattern, audience, route }) => {
  const call = (token: string | undefined, headers: Record<string, string> = {}) =>
    fixture.send(route.method, fillPath(pattern, ids), { token, headers });

  test.each([
    ['no key', () => undefined],
    ['a key nobody has', () => 'croft_of_nobody'],
    ['the token of /mcp', () => serverToken],
    ['a key with something behind it', () => `${account.token}x`],
  ])('refuses %s and changes nothing', async (_, token) => {
    const before = fixture.dump();
    const answer = await call(token());
    expect(answer.status).toBe(401);
    expect(codeOf(answer)).toBe('E_UNAUTHORIZED');
    expect(answer.json.error.hint).toContain(
      audience === 'admin' ? 'with the admin token' : 'with a key of the account',
    );
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(fixture.dump()).toEqual(before);
  });

  test('refuses callers without access and changes nothing', async () => {
    const before = fixture.dump();
    const answer = await call(audience === 'admin' ? account.token : adminToken);
    expect(answer.status).toBe(audience === 'admin' ? 403 : 400);
    if (audience === 'account') expect(answer.json.error.message).toBe('Admin must use account-specific endpoints');
    expect(fixture.dump()).toEqual(before);
  });

  const lacking = scopes.filter((scope) => audience === 'account' && !route.scopes.includes(scope));
  test.each(lacking)('refuses a key of scope %s, names the needed scope, and changes nothing', async (scope) => {
    const before = fixture.dump();
    const answer = await call(keys[scope]);
    expect(answer.status, answer.text).toBe(403);
    expect(codeOf(answer)).toBe('E_FORBIDDEN');
    expect(answer.json.error.message).toContain(`scope ${route.scopes.join(' or ')}`);
    expect(answer.json.error.details).toEqual({ needed: route.scopes, scopes: [scope] });
    expect(fixture.dump()).toEqual(before);
  });
});

describe.each(endpoints)('$pattern', ({ pattern, audience, routes }) => {
  const token = () => (audience === 'admin' ? adminToken : account.token);
  const missing = methods.filter((method) => routes[method as HttpMethod] === undefined);

  test.each([...missing, 'OPTIONS', 'PROPFIND'])(
    'refuses %s with the allowed methods, and changes nothing',
    async (method) => {
      const before = fixture.dump();
      const answer = await fixture.send(method, fillPath(pattern, ids), { token: token() });
      expect(answer.status).toBe(405);
      const allowedMethods = Object.keys(routes);
      expect(answer.headers.get('allow')?.split(',')).toEqual(allowedMethods);
      expect(answer.json.error).toMatchObject({
        code: 'E_METHOD_NOT_ALLOWED',
        message: 'Method not allowed',
        details: { method, allowedMethods },
      });
      expect(fixture.dump()).toEqual(before);
    },
  );

  test('answers 404 to a key for a path below it and beside it', async () => {
    const [filled = ''] = fillPath(pattern, ids).split('?');
    for (const path of [`${filled}/nothing/here`, `${filled}x/y/z`]) {
      expect(await fixture.send('GET', path, { token: token() })).toMatchObject({ status: 404 });
    }
  });
});

describe('the scopes of a route', () => {
  const gets = all
    .filter(({ route, audience }) => audience === 'account' && route.method === 'GET' && !route.raw)
    // Nothing has a checkpoint here, and a query is no place for a slash.
    .filter(({ pattern }) => !pattern.endsWith('/diff') && !pattern.endsWith('/search'));
  test.each(gets)('$name answers each key with the scope, also with slashes at its end', async ({ pattern, route }) => {
    for (const scope of route.scopes) {
      const token = keys[scope];
      expect(await fixture.send('GET', fillPath(pattern, ids), { token })).toMatchObject({ status: 200 });
      expect(await fixture.send('GET', `${fillPath(pattern, ids)}//`, { token })).toMatchObject({ status: 200 });
    }
  });

  test('HEAD is answered like GET, without the body', async () => {
    const answer = await fixture.send('HEAD', `/v1/sandboxes/${ids.sandboxId}`, { token: keys.read });
    expect(answer).toMatchObject({ status: 200, text: '' });
    expect(answer.headers.get('etag')).toBe('"1"');
  });

  test('nobody creates a key with more scopes than their own', async () => {
    const before = fixture.dump();
    const body = { name: 'more', scopes: ['*'] };
    expect(await fixture.send('POST', '/v1/keys', { token: keys.write, body })).toMatchObject({ status: 403 });
    const spare = `/v1/keys/${ids.keyId}`;
    expect(await fixture.send('POST', `${spare}/rotate`, { token: keys.write })).toMatchObject({ status: 403 });
    expect(await fixture.send('DELETE', spare, { token: keys.write })).toMatchObject({ status: 403 });
    expect(await fixture.send('POST', '/v1/account/rotate-secret', { token: keys.write })).toMatchObject({
      status: 403,
    });
    expect(fixture.dump()).toEqual(before);
  });
});

describe('an unknown address', () => {
  test.each(['/v1', '/v1/nothing', '/accounts/me/nothing', '/V1/account', '/v1//account', '/v1/sandboxes/%ff', '/x'])(
    'such as %s is not found for a key, and refused without one',
    async (path) => {
      expect(await fixture.send('GET', path, { token: account.token })).toMatchObject({ status: 404 });
      expect(await fixture.send('GET', path, { token: adminToken })).toMatchObject({ status: 404 });
      expect(await fixture.send('GET', path)).toMatchObject({ status: 401 });
    },
  );

  test.each([
    ['a slash', '..%2faccount'],
    ['a NUL', '%00'],
    ['a space', '%20'],
    ['an emoji', '%F0%9F%98%80'],
    ['five thousand letters', 'x'.repeat(5000)],
    ['SQL', "'%3B%20DROP%20TABLE%20agents"],
  ])('with %s as an id is not found', async (_, id) => {
    const before = fixture.dump();
    const session = `agents/${ids.agentId}/sessions`;
    for (const path of ['sandboxes', 'approvals', 'keys', 'secrets', session].map((list) => `/v1/${list}/${id}`)) {
      const answer = await fixture.send(path.includes('approvals') ? 'GET' : 'DELETE', path, { token: account.token });
      expect(answer.status, path).toBe(404);
    }
    expect(fixture.dump()).toEqual(before);
  });
});
