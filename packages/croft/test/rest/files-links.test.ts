import { readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { openFilesFixture, type RestFilesFixture } from './files-fixture.ts';
import { adminToken } from './fixture.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let at: RestFilesFixture;

beforeAll(async () => {
  at = await openFilesFixture();
});
afterAll(() => at[Symbol.asyncDispose]());
beforeEach(() => {
  at.fixture.clock.aheadMs = 0;
  for (const name of readdirSync(at.directory)) rmSync(at.at(name), { recursive: true });
});

async function link(body: object, token = at.token): Promise<{ url: string; token: string; expiresAt: string }> {
  const { status, json, text } = await at.fixture.send('POST', `${at.root}/links`, { token, body });
  expect(status, text).toBe(201);
  return json;
}

/** Sends a request without a key, as the receiver of a link does. */
async function use(url: string, method = 'GET', body?: string | Uint8Array<ArrayBuffer>, headers = {}) {
  const response = await fetch(url, { method, headers, ...(body !== undefined && { body }) });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

test('downloads one file, or a part of it, with headers against caches, referrers and robots', async () => {
  await at.put('dir/a.txt', 'of a');
  const { url, expiresAt } = await link({ path: 'dir/a.txt', expiresInSeconds: 60 });
  const got = await use(url);
  expect(got).toMatchObject({ status: 200, text: 'of a' });
  expect(got.headers.get('cache-control')).toBe('no-store');
  expect(got.headers.get('referrer-policy')).toBe('no-referrer');
  expect(got.headers.get('x-robots-tag')).toBe('noindex, nofollow');
  expect(got.headers.get('content-disposition')).toMatch(/^attachment/);
  expect(await use(url, 'GET', undefined, { range: 'bytes=1-2' })).toMatchObject({ status: 206, text: 'f ' });
  expect(await use(url, 'HEAD')).toMatchObject({ status: 200, text: '' });
  expect(Math.abs(Date.parse(expiresAt) - Date.now() - 60_000)).toBeLessThan(30_000);
});

test('uploads one file, as large as it allows, with its own entry in the audit trail', async () => {
  const { url } = await link({ path: 'new/b.bin', method: 'PUT', maxBytes: 10 });
  expect(await use(url, 'PUT', '0123456789')).toMatchObject({ status: 201 });
  expect(await use(url, 'PUT', '01234567890')).toMatchObject({ status: 413 });
  expect(await use(url, 'PUT', 'again', { 'if-none-match': '*' })).toMatchObject({ status: 412 });
  expect(readFileSync(at.at('new/b.bin'), 'utf8')).toBe('0123456789');
  const row = (await at.audit()).findLast(({ action }) => action === 'file.write');
  expect(row?.actor).toMatch(/^link of key key_/);
});

test('a link in the form of another system works as there', async () => {
  await at.put('a.txt', 'of a');
  const { json } = await at.json('POST', '/download-links', { path: 'a.txt' });
  expect(json).toMatchObject({ path: 'a.txt', expiresInSeconds: 86_400 });
  expect(await use(at.fixture.url + json.downloadPath)).toMatchObject({ status: 200, text: 'of a' });
  const put = await link({ path: 'a.txt', method: 'PUT' });
  expect(await use(`${at.fixture.url}/v1/downloads/${put.token}`, 'PUT', 'x')).toMatchObject({ status: 404 });
});

test('allows no other method, path or folder', async () => {
  await at.put('a.txt', 'of a');
  await at.put('dir/b.txt', 'of b');
  const get = await link({ path: 'a.txt' });
  const put = await link({ path: 'c.txt', method: 'PUT' });
  for (const method of ['PUT', 'POST', 'DELETE', 'PATCH']) {
    expect(await use(get.url, method, 'evil'), method).toMatchObject({ status: 404 });
  }
  for (const method of ['GET', 'HEAD', 'DELETE']) expect(await use(put.url, method)).toMatchObject({ status: 404 });
  const folder = await link({ path: 'dir' });
  expect(await use(folder.url)).toMatchObject({ status: 400 });
  for (const more of ['?path=dir/b.txt', '/../b.txt', '/b.txt']) {
    const { text } = await use(get.url + more);
    expect(text).not.toBe('of b');
  }
  expect(readFileSync(at.at('a.txt'), 'utf8')).toBe('of a');
});

test('expires at its time, and not after its key', async () => {
  await at.put('a.txt', 'of a');
  const { url } = await link({ path: 'a.txt', expiresInSeconds: 60 });
  at.fixture.clock.aheadMs = 58_000;
  expect(await use(url)).toMatchObject({ status: 200 });
  at.fixture.clock.aheadMs = 61_000;
  expect(await use(url)).toMatchObject({ status: 404 });
  at.fixture.clock.aheadMs = 0;
  const expiresAt = new Date(Date.now() + 100_000).toISOString();
  const body = { name: 'brief', scopes: ['read'], expiresAt };
  const { secret } = (await at.fixture.send('POST', '/v1/keys', { token: at.token, body })).json;
  const brief = await link({ path: 'a.txt', expiresInSeconds: 86_400 }, secret);
  expect(Date.parse(brief.expiresAt)).toBeLessThanOrEqual(Date.parse(expiresAt));
  at.fixture.clock.aheadMs = 101_000;
  expect(await use(brief.url)).toMatchObject({ status: 404 });
});

test('is refused after any change of its parts', async () => {
  await at.put('a.txt', 'of a');
  await at.put('b.txt', 'of b');
  const { token } = await link({ path: 'a.txt' });
  const [text = '', signature = ''] = token.split('.');
  const claims = JSON.parse(Buffer.from(text, 'base64url').toString());
  const forge = (changes: object) => Buffer.from(JSON.stringify({ ...claims, ...changes })).toString('base64url');
  const tampered = [
    `${forge({ path: 'b.txt' })}.${signature}`,
    `${forge({ method: 'PUT' })}.${signature}`,
    `${forge({ expires: 9_999_999_999 })}.${signature}`,
    `${forge({ accountId: 'acct_x' })}.${signature}`,
    `${text}.${Buffer.alloc(32).toString('base64url')}`,
    ...[`${text}.`, text, `.${signature}`, `${token}.x`, `${token}x`, `x${token}`, 'x'.repeat(13_000)],
    ...Array.from({ length: 20 }, (_, index) => flip(token, index * 7)),
  ];
  for (const bad of tampered)
    expect(await use(`${at.fixture.url}/v1/links/${bad}`), bad).toMatchObject({ status: 404 });
  expect(await use(`${at.fixture.url}/v1/links/${token}`)).toMatchObject({ status: 200 });
});

/** Another letter at one place. */
function flip(token: string, index: number): string {
  const at = index % (token.length - 1);
  return token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);
}

test('ends with its key, its workspace and its account', async () => {
  await using other = await openFilesFixture();
  await other.put('a.txt', 'of a');
  const { key, secret } = await other.newKey('lender', ['read']);
  const make = async (token: string) =>
    (await other.fixture.send('POST', `${other.root}/links`, { token, body: { path: 'a.txt' } })).json.url as string;
  const [lent, own] = [await make(secret), await make(other.token)];
  expect(await use(lent)).toMatchObject({ status: 200 });
  await other.fixture.send('DELETE', `/v1/keys/${key.keyId}`, { token: other.token });
  expect(await use(lent)).toMatchObject({ status: 404 });
  expect(await use(own)).toMatchObject({ status: 200 });
  await other.fixture.send('DELETE', other.root, { token: other.token });
  expect(await use(own)).toMatchObject({ status: 404 });
  const again = await other.fixture.send('POST', '/v1/workspaces', { token: other.token, body: { name: 'again' } });
  const root = `/v1/workspaces/${again.json.workspaceId}`;
  const { json } = await other.fixture.send('POST', `${root}/links`, {
    token: other.token,
    body: { path: 'x', method: 'PUT' },
  });
  await other.fixture.send('DELETE', `/accounts/${other.accountId}`, { token: adminToken });
  expect(await use(json.url, 'PUT', 'x')).toMatchObject({ status: 404 });
});

test('does not follow a link of files put in its place', async () => {
  const get = await link({ path: 'a.txt' });
  const put = await link({ path: 'a.txt', method: 'PUT' });
  symlinkSync('/etc/passwd', at.at('a.txt'));
  expect(await use(get.url)).toMatchObject({ status: 403 });
  expect(await use(put.url, 'PUT', 'x')).toMatchObject({ status: 403 });
});

test.each([
  { expiresInSeconds: 604_801 },
  { expiresInSeconds: 0 },
  { method: 'DELETE' },
  { maxBytes: -1 },
  { path: '' },
])('is not created with %j', async (wrong) => {
  writeFileSync(at.at('a.txt'), 'x');
  expect(await at.json('POST', '/links', { path: 'a.txt', ...wrong })).toMatchObject({ status: 400 });
});

test('counts as a request of its account', async () => {
  await using busy = await openFilesFixture({ limits: { requestsPerMinute: 20 } });
  await busy.put('a.txt', 'x');
  const { json } = await busy.json('POST', '/links', { path: 'a.txt' });
  const statuses: number[] = [];
  for (let index = 0; index < 30; index++) statuses.push((await use(json.url)).status);
  expect(statuses).toContain(429);
});
