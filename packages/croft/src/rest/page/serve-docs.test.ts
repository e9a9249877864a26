import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { AppError } from '@croft/protocol';
import { Hono } from 'hono';
import { afterAll, expect, test } from 'vitest';
import { openDocsFiles } from './docs-files.ts';
import { createDocs } from './serve-docs.ts';

const parent = mkdtempSync(join(tmpdir(), 'croft-docs-'));
const directory = join(parent, 'site');
afterAll(() => rmSync(parent, { recursive: true }));
mkdirSync(join(directory, 'images'), { recursive: true });
writeFileSync(join(parent, 'secret.md'), 'a secret');
for (const [name, text] of Object.entries({
  'index.html': '<h1>Croft</h1>',
  'undo.md': '# Undo',
  'images/a.png': 'pixels',
  'key.pem': 'a secret',
}))
  writeFileSync(join(directory, name), text);

const app = new Hono()
  .use(createDocs(openDocsFiles(directory)))
  .all('*', (c) => c.json({ status: 'another route' }))
  .onError((error, c) => c.json({ code: AppError.from(error).code }, 404));
const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  app.request(path, { headers, method });

test('/docs leads to the first page, and each file has its type', async () => {
  const start = await get('/docs');
  expect([start.status, start.headers.get('location')]).toEqual([308, '/docs/']);
  expect(await (await get('/docs/')).text()).toBe('<h1>Croft</h1>');
  expect((await get('/docs/undo.md')).headers.get('content-type')).toBe('text/markdown; charset=utf-8');
  expect((await get('/docs/images/a.png')).headers.get('content-type')).toBe('image/png');
});

test('the policy allows files of this server alone, and the browser asks again for each', async () => {
  expect(Object.fromEntries((await get('/docs/')).headers)).toMatchObject({
    'content-security-policy':
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; form-action 'none'; " +
      "base-uri 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-cache',
  });
});

test.each([
  '/docs/../secret.md',
  '/docs/%2e%2e/secret.md',
  '/docs/..%2fsecret.md',
  '/docs/images/../../secret.md',
  '/docs//etc/passwd',
  '/docs/key.pem',
  '/docs/images',
  '/docs/unknown.html',
])('%s is no file of the site', async (path) => {
  const answer = await get(path);
  expect(await answer.text()).not.toContain('a secret');
  expect(answer.headers.get('content-type')).toContain('application/json');
});

test('a known file is not sent again, and a browser that can gets it compressed', async () => {
  const first = await get('/docs/undo.md', { 'accept-encoding': 'br, gzip' });
  expect(gunzipSync(await first.arrayBuffer()).toString()).toBe('# Undo');
  const again = await get('/docs/undo.md', { 'if-none-match': first.headers.get('etag') ?? '' });
  expect([again.status, await again.text()]).toEqual([304, '']);
  expect((await get('/docs/undo.md', { 'accept-encoding': 'gzip;q=0' })).headers.get('content-encoding')).toBeNull();
  expect((await get('/docs/images/a.png', { 'accept-encoding': 'gzip' })).headers.get('content-encoding')).toBeNull();
});

test('nothing is posted there, and other addresses are of others', async () => {
  expect(await (await get('/docs/', {}, 'POST')).json()).toEqual({ status: 'another route' });
  expect(await (await get('/docsify')).json()).toEqual({ status: 'another route' });
});

test('without the site every page is missing, and the server works', async () => {
  const bare = new Hono()
    .use(createDocs(openDocsFiles(join(parent, 'none'))))
    .onError((_, c) => c.text('missing', 404));
  expect((await bare.request('/docs/')).status).toBe(404);
});
