import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createBrowserSessions } from '../../src/core/accounts/keys/browser-sessions.ts';
import { codeOf, openFixture, type RestFixture } from './fixture.ts';
import { cookieOf, createPageClient, type PageRequest } from './page-client.ts';

let fixture: RestFixture;
let page: ReturnType<typeof createPageClient>;
let ann: { accountId: string; token: string };

beforeAll(async () => {
  fixture = await openFixture({ limits: { requestsPerMinute: 100_000, refusalsPerMinute: 100_000 } });
  page = createPageClient(fixture.port);
  ann = await fixture.addAccount('ann');
});
afterAll(() => fixture[Symbol.asyncDispose]());

let count = 0;
async function newKey(scopes: readonly string[], more: object = {}): Promise<{ secret: string; keyId: string }> {
  count += 1;
  const body = { name: `key ${count}`, scopes, ...more };
  const { json } = await fixture.send('POST', '/v1/keys', { token: ann.token, body });
  return { secret: json.secret, keyId: json.key.keyId };
}

async function signIn(token = ann.token): Promise<string> {
  const answer = await page('POST', '/v1/session', { token });
  expect(answer.status, answer.text).toBe(201);
  return cookieOf(answer);
}

const hour = 3_600_000;

describe('a browser', () => {
  test('signs in with a key, and gets a cookie that no script and no other site can read', async () => {
    const answer = await page('POST', '/v1/session', { token: ann.token });
    expect(answer.setCookie).toMatch(
      new RegExp(`^croft-${fixture.port}=session_[\\w-]{43}; Path=/; HttpOnly; SameSite=Strict; Max-Age=604800$`),
    );
    expect(answer.json.session).toMatchObject({
      ...{ accountId: ann.accountId, username: 'ann', scopes: ['*'], isOperator: false },
      expiresAt: expect.any(String),
    });
    expect(answer.text).not.toContain(cookieOf(answer).split('=')[1]);
  });

  test('has the secret alone: the records have only its hash', async () => {
    const cookie = await signIn();
    expect(JSON.stringify(fixture.dump())).not.toContain(cookie.split('=')[1]);
  });

  test.each(['croft_of_nobody', 'once_of_nobody', 'session_of_nobody', ''])(
    'does not sign in with %j, and gets no cookie',
    async (token) => {
      const answer = await page('POST', '/v1/session', { token });
      expect(answer).toMatchObject({ status: 401, setCookie: '' });
    },
  );

  test('does with its cookie what the key may do, and no more', async () => {
    const cookie = await signIn((await newKey(['read'])).secret);
    expect(await page('GET', '/v1/account', { cookie })).toMatchObject({ status: 200 });
    const body = { name: 'x', config: {} };
    expect(await page('POST', '/v1/sandboxes', { cookie, body })).toMatchObject({ status: 403 });
    const full = await signIn();
    expect(await page('POST', '/v1/sandboxes', { cookie: full, body })).toMatchObject({ status: 201 });
  });

  test('keeps to the agents that its key is bound to', async () => {
    const body = { name: 'bound', config: {} };
    const { agentId } = (await fixture.send('POST', '/v1/agents', { token: ann.token, body })).json;
    const cookie = await signIn((await newKey(['call', 'approve'], { agents: [agentId] })).secret);
    expect((await page('GET', '/v1/session', { cookie })).json.session.agents).toEqual([agentId]);
    expect(await page('GET', '/v1/audit', { cookie })).toMatchObject({ status: 403 });
  });

  test('is signed out by itself, for good', async () => {
    const cookie = await signIn();
    const answer = await page('DELETE', '/v1/session', { cookie });
    expect(answer).toMatchObject({ status: 200, setCookie: expect.stringContaining('Max-Age=0') });
    expect(await page('GET', '/v1/session', { cookie })).toMatchObject({ status: 401 });
  });

  test('is signed out with its key', async () => {
    const { secret, keyId } = await newKey(['read']);
    const cookie = await signIn(secret);
    await fixture.send('DELETE', `/v1/keys/${keyId}`, { token: ann.token });
    expect(await page('GET', '/v1/session', { cookie })).toMatchObject({ status: 401 });
  });

  test('leaves a row in the audit trail', async () => {
    const { secret, keyId } = await newKey(['read']);
    const cookie = await signIn(secret);
    await page('DELETE', '/v1/session', { cookie });
    const { json } = await fixture.send('GET', '/v1/audit?order=newest&limit=2', { token: ann.token });
    expect(json.audit).toMatchObject([
      { action: 'session.ended', target: keyId },
      { action: 'session.opened', target: keyId },
    ]);
  });
});

describe('a session', () => {
  test('that nobody uses for twelve hours is over, and one in use goes on for seven days', async () => {
    const [idle, used] = [await signIn(), await signIn()];
    const start = fixture.clock.aheadMs;
    for (let at = 11; at < 7 * 24; at += 11) {
      fixture.clock.aheadMs = start + at * hour;
      expect(await page('GET', '/v1/session', { cookie: used })).toMatchObject({ status: 200 });
    }
    expect(await page('GET', '/v1/session', { cookie: idle })).toMatchObject({ status: 401 });
    fixture.clock.aheadMs = start + 7 * 24 * hour;
    expect(await page('GET', '/v1/session', { cookie: used })).toMatchObject({ status: 401 });
  });

  test('is one of a hundred of a key: the oldest goes', async () => {
    const { secret } = await newKey(['read']);
    const cookies: string[] = [];
    for (let made = 0; made < 101; made += 1) {
      fixture.clock.aheadMs += 1;
      cookies.push(await signIn(secret));
    }
    const statusOf = async (cookie = '') => (await page('GET', '/v1/session', { cookie })).status;
    expect([await statusOf(cookies[0]), await statusOf(cookies[1]), await statusOf(cookies[100])]).toEqual([
      401, 200, 200,
    ]);
  });
});

describe('a cookie', () => {
  const post: [string, PageRequest['headers']][] = [
    ['from a page of another site', { 'sec-fetch-site': 'cross-site' }],
    ['from another port of this machine', { 'sec-fetch-site': 'same-site' }],
    ['from the address bar', { 'sec-fetch-site': 'none' }],
    ['from a browser that does not say where', { 'sec-fetch-site': undefined }],
    ['without the header of the page', { 'croft-page': undefined }],
    ['with another word in that header', { 'croft-page': '0' }],
    ['without an origin', { origin: undefined }],
    ['with the origin of another site', { origin: 'https://evil.example' }],
    ['with the origin null, of a frame in a sandbox', { origin: 'null' }],
    ['with the origin of another port', { origin: 'http://croft.localhost:1' }],
  ];

  test.each(post)('does not count %s', async (_, headers) => {
    const cookie = await signIn();
    const before = fixture.dump();
    const answer = await page('POST', '/v1/workspaces', { cookie, headers, body: { name: 'w', config: {} } });
    expect(answer.status).toBe(403);
    expect(fixture.dump()).toEqual(before);
    expect((await page('DELETE', '/v1/session', { cookie, headers })).status).toBe(403);
  });

  test.each(post.slice(0, 4))('does not count for reading %s', async (_, headers) => {
    expect((await page('GET', '/v1/account', { cookie: await signIn(), headers })).status).toBe(403);
  });

  test.each(post)('is not given to a browser %s', async (_, headers) => {
    const answer = await page('POST', '/v1/session', { token: ann.token, headers });
    expect(answer).toMatchObject({ status: 403, setCookie: '' });
  });

  test('does not count at 127.0.0.1 and localhost, where other apps have it too, and is not given there', async () => {
    const cookie = await signIn();
    for (const host of ['127.0.0.1', 'localhost', 'other.localhost']) {
      const elsewhere = createPageClient(fixture.port, host);
      expect([401, 403]).toContain((await elsewhere('GET', '/v1/account', { cookie })).status);
      const answer = await elsewhere('POST', '/v1/session', { token: ann.token });
      expect(answer).toMatchObject({ status: 403, setCookie: '' });
      if (host !== 'other.localhost')
        expect(answer.json.error.details.page).toBe(`http://croft.localhost:${fixture.port}/`);
    }
  });

  test('of a page by HTTPS, behind a proxy, is for HTTPS alone', async () => {
    const headers = { origin: `https://croft.localhost:${fixture.port}` };
    const answer = await page('POST', '/v1/session', { token: ann.token, headers });
    expect(answer.setCookie).toMatch(/^__Host-croft=session_\S+; Path=\/; HttpOnly; SameSite=Strict; Secure; Max-Age/);
    expect(await page('GET', '/v1/account', { cookie: cookieOf(answer) })).toMatchObject({ status: 200 });
  });

  test('does not count beside a key, good or bad', async () => {
    const cookie = await signIn();
    expect(await page('GET', '/v1/account', { cookie, token: 'croft_of_nobody' })).toMatchObject({ status: 401 });
    const { secret } = await newKey(['call']);
    expect(await page('GET', '/v1/account', { cookie, token: secret })).toMatchObject({ status: 403 });
  });

  test('never counts for MCP', async () => {
    const cookie = await signIn();
    expect(await page('POST', '/mcp', { cookie, body: {} })).toMatchObject({ status: 401 });
    const { json } = await page('POST', '/v1/agents', { cookie, body: { name: 'a', config: {} } });
    const answer = await page('POST', `/v1/agents/${json.agentId}/mcp`, { cookie, body: {} });
    expect(answer).toMatchObject({ status: 403 });
    expect(answer.json.error.message).toContain('the request came with a browser session');
  });

  test.each(['x', 'session_', `session_${'a'.repeat(43)}`, 'a'.repeat(5000), "';DROP TABLE browser_sessions"])(
    'of %j is nobody’s',
    async (secret) => {
      const answer = await page('GET', '/v1/account', { cookie: `croft-${fixture.port}=${secret}` });
      expect(answer.status).toBe(401);
    },
  );

  test('of a key, or of a link, is none', async () => {
    const { once } = (await page('POST', '/v1/session/links', { token: ann.token })).json;
    for (const secret of [ann.token, once]) {
      const cookie = `croft-${fixture.port}=${secret}`;
      expect(await page('GET', '/v1/account', { cookie })).toMatchObject({ status: 401 });
    }
  });
});

describe('a sign-in link', () => {
  const makeLink = async (token = ann.token) => (await fixture.send('POST', '/v1/session/links', { token })).json;

  test('signs in once, of many who try at the same time', async () => {
    const { once, path } = await makeLink();
    expect(path).toBe(`/#once=${once}`);
    const answers = await Promise.all(Array.from({ length: 8 }, () => page('POST', '/v1/session', { token: once })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array.from({ length: 7 }, () => 401)]);
    const cookie = cookieOf(answers.find(({ status }) => status === 201)!);
    expect((await page('GET', '/v1/session', { cookie })).json.session.accountId).toBe(ann.accountId);
  });

  test('signs in once, also when all have read the link before one of them uses it', async () => {
    const now = () => new Date(Date.now() + fixture.clock.aheadMs);
    const sessions = createBrowserSessions({ records: fixture.records, vault: fixture.vault, now });
    const { secret } = await sessions.open({ accountId: ann.accountId, keyId: 'key_1' }, 'link');
    const found = await Promise.all(Array.from({ length: 8 }, () => sessions.redeem(secret)));
    expect(found.filter((session) => session !== undefined)).toHaveLength(1);
  });

  test('signs in within a minute', async () => {
    const { once } = await makeLink();
    fixture.clock.aheadMs += 60_000;
    expect(await page('POST', '/v1/session', { token: once })).toMatchObject({ status: 401, setCookie: '' });
  });

  test('has the rights of the key that made it, and ends with it', async () => {
    const { secret, keyId } = await newKey(['approve']);
    const { once } = await makeLink(secret);
    const cookie = await signIn(once);
    expect((await page('GET', '/v1/session', { cookie })).json.session.scopes).toEqual(['approve']);
    const other = await makeLink(secret);
    await fixture.send('DELETE', `/v1/keys/${keyId}`, { token: ann.token });
    expect(await page('POST', '/v1/session', { token: other.once })).toMatchObject({ status: 401 });
  });

  test('is no key', async () => {
    const { once } = await makeLink();
    for (const [method, path] of [
      ['GET', '/v1/account'],
      ['POST', '/v1/sandboxes'],
      ['GET', '/v1/events'],
    ] as const)
      expect(await fixture.send(method, path, { token: once })).toMatchObject({ status: 401 });
  });
});

test('the admin has no session, and neither has the token of a server without flag workspaces', async () => {
  const admin = await page('POST', '/v1/session', { token: 'the-admin-token-of-these-tests' });
  expect(admin).toMatchObject({ status: 400, setCookie: '' });
  const server = await page('POST', '/v1/session', { token: 'the-server-token-of-these-tests' });
  expect(server).toMatchObject({ status: 401, setCookie: '' });
});

test('signing out with a key says that there is nothing to sign out of', async () => {
  const answer = await fixture.send('DELETE', '/v1/session', { token: ann.token });
  expect([answer.status, codeOf(answer)]).toEqual([404, 'E_NOT_FOUND']);
});
