import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { createPage } from './serve-page.ts';

const bytes = (text: string) => new Uint8Array(Buffer.from(text));
const asset = {
  type: 'text/javascript; charset=utf-8',
  bytes: bytes('plain'),
  encoded: { br: bytes('br'), gzip: bytes('gz') },
};
const page = createPage({
  document: '<meta property="csp-nonce" nonce="%NONCE%">',
  assets: new Map([['index-1.js', asset]]),
});
const app = new Hono().use(page).all('*', (c) => c.json({ status: 'json' }));
const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  app.request(path, { headers, method });

test.each(['/', '/approvals', '/approvals/ap_1', '/workspaces/demo/files', '/agents/a/fence', '/audit', '/terminal'])(
  '%s is the page for a browser, and JSON for a program',
  async (path) => {
    expect((await get(path, html)).headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await (await get(path)).json()).toEqual({ status: 'json' });
  },
);

test.each([
  '/v1/account',
  '/audit/verify',
  '/accounts',
  '/mcp',
  '/openapi.json',
  '/assets/unknown.js',
  '/assets/../index.html',
])('%s is not of the page', async (path) => {
  expect(await (await get(path, html)).json()).toEqual({ status: 'json' });
});

test('the page is shown and not posted to', async () => {
  expect(await (await get('/', html, 'POST')).json()).toEqual({ status: 'json' });
});

test('the policy allows scripts of this server alone, and a nonce that nobody can know before', async () => {
  const [one, other] = await Promise.all([get('/', html), get('/', html)]);
  const policy = one.headers.get('content-security-policy') ?? '';
  const [, nonce = ''] = /'nonce-([^']+)'/.exec(policy) ?? [];
  expect(policy.replace(nonce, 'R')).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-R'; img-src 'self' data: blob:; connect-src 'self'; " +
      "manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  );
  expect(await one.text()).toContain(`nonce="${nonce}"`);
  expect(nonce).toMatch(/^[\w+/]{24}$/);
  expect(other.headers.get('content-security-policy')).not.toContain(nonce);
  expect(Object.fromEntries(one.headers)).toMatchObject({
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
  });
});

test.each([
  ['gzip, br', 'br', 'br'],
  ['gzip', 'gzip', 'gz'],
  ['br;q=0, gzip', 'gzip', 'gz'],
  ['identity', null, 'plain'],
  [undefined, null, 'plain'],
])('a browser that accepts %s gets %s', async (accepted, coding, text) => {
  const answer = await get('/assets/index-1.js', accepted === undefined ? {} : { 'accept-encoding': accepted });
  expect(answer.headers.get('content-encoding')).toBe(coding);
  expect(await answer.text()).toBe(text);
  expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
});
