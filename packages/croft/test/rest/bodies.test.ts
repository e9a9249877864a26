import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endpoints } from '../../src/rest/dispatch/match-path.ts';
import type { Route } from '../../src/rest/platform/route.ts';
import { fillAccount, fillPath, type Ids } from './fill-account.ts';
import { adminToken, codeOf, openFixture, type RestFixture } from './fixture.ts';

const maxBodyBytes = 4 * 1024 * 1024;

let fixture: RestFixture;
let token: string;
let ids: Ids & { accountId: string };

beforeAll(async () => {
  fixture = await openFixture({ limits: { requestsPerMinute: 100_000 }, maxBodyBytes });
  const account = await fixture.addAccount('ann');
  ({ token } = account);
  ids = { ...(await fillAccount(fixture, token)), accountId: account.accountId };
});

afterAll(() => fixture[Symbol.asyncDispose]());

const withBody = endpoints.flatMap(({ pattern, audience, routes }) =>
  Object.values(routes)
    .filter(({ body }) => body !== undefined)
    .map((route: Route) => ({ name: `${route.method} ${pattern}`, pattern, audience, route })),
);

const broken: [string, string | Uint8Array<ArrayBuffer>][] = [
  ['half an object', '{"name":'],
  ['no JSON', 'hello'],
  ['two objects', '{}{}'],
  ['a comma too many', '{"name":"x",}'],
  ['a hundred thousand open brackets', '['.repeat(100_000)],
  ['a hundred levels', `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`],
  ['bytes that are not UTF-8', Uint8Array.from([...Buffer.from('{"name":"'), 0xff, ...Buffer.from('"}')])],
  ['NaN', '{"name":NaN}'],
];

const wrong: [string, string][] = [
  ['null', 'null'],
  ['a number', '7'],
  ['a text', '"name"'],
  ['an array', '[{"name":"x"}]'],
  ['numbers for everything', '{"name":1,"description":2,"config":3,"username":4,"scopes":5,"value":6,"decision":7}'],
  [
    'arrays for everything',
    '{"name":[],"description":[],"config":[],"username":[],"scopes":[],"value":[],"decision":[]}',
  ],
  ['a prototype', '{"__proto__":{"isAdmin":true}}'],
  ['a prototype within', '{"name":"x","username":"x","config":{"__proto__":{"isAdmin":true}}}'],
  ['half a character', '{"name":"\\ud800","username":"\\ud800","value":"","config":{"\\udfff":1}}'],
  ['a NUL', '{"name":"a\\u0000b","username":"a\\u0000b","value":""}'],
  ['nothing but spaces for names', '{"name":"   ","username":"  ","value":""}'],
];

describe.each(withBody)('$name', ({ pattern, audience, route }) => {
  const send = (text: string | Uint8Array<ArrayBuffer>) =>
    fixture.send(route.method, fillPath(pattern, ids), { token: audience === 'admin' ? adminToken : token, text });

  test.each(broken)('refuses %s and changes nothing', async (_, text) => {
    const before = fixture.dump();
    const answer = await send(text);
    expect(answer.status, answer.text).toBe(400);
    expect(codeOf(answer)).toBe('E_INVALID_INPUT');
    expect(answer.json.error.message).toMatch(/^Invalid request JSON: ./);
    expect(fixture.dump()).toEqual(before);
  });

  // The tool checks its own input.
  test.each(route.large ? [] : wrong)('refuses %s and changes nothing', async (_, text) => {
    const before = fixture.dump();
    const answer = await send(text);
    expect(answer.status, answer.text).toBe(400);
    expect(codeOf(answer)).toBe('E_INVALID_INPUT');
    expect(fixture.dump()).toEqual(before);
  });
});

const some = withBody.filter(({ pattern }) => /^\/v1\/(account|secrets|agents.*tools)/.test(pattern));

test.each(some)(
  '$name refuses a body over the limit, with or without a length, and changes nothing',
  async ({ pattern, route }) => {
    const before = fixture.dump();
    const max = route.large ? maxBodyBytes : 1024 * 1024;
    const text = JSON.stringify({ name: 'x'.repeat(max) });
    const path = fillPath(pattern, ids);
    const answer = await fixture.send(route.method, path, { token, text });
    expect(answer.status).toBe(413);
    expect(codeOf(answer)).toBe('E_TOO_LARGE');
    expect(answer.json.error.details.max).toBe(max);
    const unsaid = await fetch(fixture.url + path, {
      method: route.method,
      headers: { authorization: `Bearer ${token}` },
      body: new Blob([text]).stream(),
      duplex: 'half',
    } as RequestInit);
    expect(unsaid.status).toBe(413);
    await unsaid.body?.cancel();
    // The next request has a connection of its own to go on.
    expect(await fixture.send('GET', '/v1/account', { token })).toMatchObject({ status: 200 });
    expect(fixture.dump()).toEqual(before);
  },
);

test('no prototype was changed by any body', () => {
  expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
  expect(fixture.errors).toEqual([]);
});

test.each(['', '   ', '\n', '{}'])('a body of %j is an empty object', async (text) => {
  const answer = await fixture.send('POST', '/v1/sandboxes', { token, text });
  expect(answer).toMatchObject({ status: 400, json: { error: { message: 'name is required' } } });
});

test('a byte order mark before JSON is skipped', async () => {
  const text = Uint8Array.from([0xef, 0xbb, 0xbf, ...Buffer.from('{"description":"marked"}')]);
  const answer = await fixture.send('PATCH', '/v1/account', { token, text });
  expect(answer.json.account).toMatchObject({ description: 'marked' });
});

test('brackets inside a text do not count as levels', async () => {
  const description = `${'[{'.repeat(400)}"\\"[[[`;
  const answer = await fixture.send('PATCH', '/v1/account', { token, body: { description } });
  expect(answer.json.account.description).toBe(description);
});

describe('a query', () => {
  test.each([
    'limit=0',
    'limit=201',
    'limit=-1',
    'limit=1.5',
    'limit=x',
    'limit=',
    'after=',
    'after=%00',
    'after=a/b',
    'after=x',
  ])('with %s is refused in every list', async (query) => {
    for (const list of ['agents', 'sandboxes', 'workspaces', 'keys', 'approvals', 'audit']) {
      const answer = await fixture.send('GET', `/v1/${list}?${query}`, { token });
      expect(answer.status, `${list}: ${answer.text}`).toBe(400);
      expect(codeOf(answer)).toBe('E_INVALID_INPUT');
    }
  });

  test.each(['state=open', 'state=', `agentId=${'x'.repeat(65)}`])(
    'with %s is refused for approvals',
    async (query) => {
      expect(await fixture.send('GET', `/v1/approvals?${query}`, { token })).toMatchObject({ status: 400 });
    },
  );
});
