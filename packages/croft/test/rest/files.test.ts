import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { sha256 } from '../../src/lib/crypto/sha256.ts';
import { plantCanary } from '../support/canary.ts';
import { climbing, odd } from './climbing-paths.ts';
import { openFilesFixture, type RestFilesFixture } from './files-fixture.ts';
import { codeOf } from './fixture.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let at: RestFilesFixture;
let canary: ReturnType<typeof plantCanary>;

beforeAll(async () => {
  at = await openFilesFixture();
  canary = plantCanary(`${at.directory}-evil`);
});

afterAll(async () => {
  const changes = canary.changes();
  await at[Symbol.asyncDispose]();
  expect(changes).toEqual([]);
});

beforeEach(() => {
  for (const name of readdirSync(at.directory)) rmSync(at.at(name), { recursive: true });
});

describe('a list', () => {
  test('has the files of one folder with their metadata', async () => {
    await at.put('b.txt', 'of b');
    await at.put('dir/a.txt', 'of a');
    symlinkSync('b.txt', at.at('link'));
    const { status, json } = await at.json('GET', '/files?etags=true');
    expect(status).toBe(200);
    expect(json.files).toEqual([
      expect.objectContaining({
        path: 'b.txt',
        name: 'b.txt',
        kind: 'file',
        isFolder: false,
        sizeBytes: 4,
        mode: '0644',
      }),
      expect.objectContaining({ path: 'dir', kind: 'directory', isFolder: true }),
      expect.objectContaining({ path: 'link', kind: 'link', isFolder: false, target: 'b.txt' }),
    ]);
    expect(json.files[0].etag).toBe(`"${sha256('of b')}"`);
    expect(Date.parse(json.files[0].updatedAt)).toBeGreaterThan(Date.now() - 600_000);
    const below = await at.json('GET', '/files?path=dir');
    expect(below.json.files.map(({ path }: { path: string }) => path)).toEqual(['dir/a.txt']);
  });

  test('of a file names the address to download it, without a key', async () => {
    await at.put('dir/a.txt', 'of a');
    const { json } = await at.json('GET', '/files?path=dir/a.txt');
    expect(json.files).toHaveLength(1);
    expect(await (await fetch(json.url)).text()).toBe('of a');
  });

  test('of everything comes in pages, each entry once and in order', async () => {
    const names = ['a/1', 'a/2', 'a-b', 'a.txt', 'b/c/d/e', 'b/c/x', 'b/y', 'z', 'é', 'a/z/q'];
    for (const name of names) await at.put(name, 'x');
    const whole = await at.json('GET', '/files?recursive=true&limit=1000');
    const all = whole.json.files.map(({ path }: { path: string }) => path);
    expect(all.filter((path: string) => names.includes(path)).sort()).toEqual([...names].sort());
    for (const limit of [1, 2, 3, 5, 7]) {
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = `/files?recursive=true&limit=${limit}${cursor === undefined ? '' : `&cursor=${cursor}`}`;
        const { json } = await at.json('GET', page);
        expect(json.files.length).toBeLessThanOrEqual(limit);
        seen.push(...json.files.map(({ path }: { path: string }) => path));
        cursor = json.next;
      } while (cursor !== undefined);
      expect(seen).toEqual(all);
    }
  });

  test('goes on after an entry that was deleted meanwhile', async () => {
    for (const name of ['a', 'b/1', 'b/2', 'c']) await at.put(name, 'x');
    const { json } = await at.json('GET', '/files?recursive=true&limit=3');
    expect(json.files.map(({ path }: { path: string }) => path)).toEqual(['a', 'b', 'b/1']);
    await at.json('DELETE', '/files?path=b&recursive=true');
    const rest = await at.json('GET', `/files?recursive=true&cursor=${json.next}`);
    expect(rest.json.files.map(({ path }: { path: string }) => path)).toEqual(['c']);
  });

  test.each(['cursor=%00', 'cursor=!', 'limit=0', 'limit=1001', 'recursive=yes'])('refuses %s', async (query) => {
    expect(await at.json('GET', `/files?${query}`)).toMatchObject({ status: 400 });
  });
});

describe('small files in JSON', () => {
  test('are put exactly, up to 512 KiB', async () => {
    const bytes = Buffer.alloc(512 * 1024, 7);
    const body = { path: 'a.bin', contentBase64: bytes.toString('base64') };
    const { status, json } = await at.json('POST', '/files', body);
    expect(status).toBe(201);
    expect(json).toMatchObject({ path: 'a.bin', sizeBytes: bytes.length, etag: `"${sha256(bytes)}"` });
    expect(readFileSync(at.at('a.bin')).equals(bytes)).toBe(true);
    const more = { path: 'b.bin', contentBase64: Buffer.alloc(512 * 1024 + 1).toString('base64') };
    const refused = await at.json('POST', '/files', more);
    expect(refused.status).toBe(400);
    expect(refused.json.error.message).toBe('Workspace uploads must not exceed 512 KiB');
    const nonsense = { path: 'b.bin', contentBase64: 'no base64!' };
    expect(await at.json('POST', '/files', nonsense)).toMatchObject({ status: 400 });
    expect(existsSync(at.at('b.bin'))).toBe(false);
  });
});

describe('a rename', () => {
  test('moves a file or a folder to a name that is free', async () => {
    await at.put('a/b.txt', 'of b');
    const body = { path: 'a/b.txt', newPath: 'c/d.txt' };
    expect(await at.json('PATCH', '/files', body)).toMatchObject({ status: 200, json: { renamed: 1 } });
    expect(await at.json('POST', '/files/rename', { from: 'c', to: 'e' })).toMatchObject({ status: 200 });
    expect(readFileSync(at.at('e/d.txt'), 'utf8')).toBe('of b');
  });

  test('never replaces a file, never moves a folder into itself, and reports a missing path', async () => {
    await at.put('a.txt', 'a');
    await at.put('b.txt', 'b');
    const rename = (from: string, to: string) => at.json('POST', '/files/rename', { from, to });
    expect(codeOf(await rename('a.txt', 'b.txt'))).toBe('E_ALREADY_EXISTS');
    expect((await rename('a.txt', 'a.txt')).json.error.message).toBe('Invalid destination path');
    expect((await rename('a.txt', 'a.txt/x')).json.error.message).toBe('Invalid destination path');
    expect(await rename('none', 'some')).toMatchObject({ status: 404 });
    expect(readFileSync(at.at('b.txt'), 'utf8')).toBe('b');
  });
});

describe('a deletion', () => {
  test('removes a file, a folder only if requested, and never the target of a link', async () => {
    await at.put('a/b.txt', 'b');
    await at.put('kept/c.txt', 'c');
    symlinkSync('kept', at.at('link'));
    expect(codeOf(await at.json('DELETE', '/files?path=a'))).toBe('E_DIRECTORY_NOT_EMPTY');
    expect(await at.json('DELETE', '/files', { path: 'a', recursive: true })).toMatchObject({ json: { deleted: 2 } });
    expect(await at.json('DELETE', '/files?path=link&recursive=true')).toMatchObject({ json: { deleted: 1 } });
    expect(readdirSync(at.directory)).toEqual(['kept']);
    expect(readFileSync(at.at('kept/c.txt'), 'utf8')).toBe('c');
    expect(await at.json('DELETE', '/files')).toMatchObject({ status: 400 });
  });

  test('obeys If-Match', async () => {
    await at.put('a.txt', 'one');
    const gone = { headers: { 'if-match': '"another"' } };
    expect(await at.json('DELETE', '/files?path=a.txt', undefined, gone)).toMatchObject({ status: 412 });
    const right = { headers: { 'if-match': `"${sha256('one')}"` } };
    expect(await at.json('DELETE', '/files?path=a.txt', undefined, right)).toMatchObject({ status: 200 });
  });
});

test.each([
  ['../x', 'without . or .. and with single slashes'],
  ['a//b', 'without . or .. and with single slashes'],
  ['a\0b', 'Leave out NUL bytes'],
])('of the path %j is refused with the reason', async (path, advice) => {
  const { json } = await at.json('POST', '/files', { path, contentBase64: '' });
  expect(json.error).toMatchObject({ code: 'E_INVALID_PATH', hint: expect.stringContaining(advice) });
  expect(json.error.hint.includes('NUL')).toBe(path.includes('\0'));
});

describe.each(climbing)('the path %j', (path) => {
  const query = `path=${path === '\ud800' ? '%ED%A0%80' : encodeURIComponent(path)}`;
  test('is refused everywhere, and nothing is created', async () => {
    const before = readdirSync(at.directory);
    const bodies = [
      await at.json('POST', '/files', { path, contentBase64: '' }),
      await at.json('PATCH', '/files', { path, newPath: 'y' }),
      await at.json('PATCH', '/files', { path: 'y', newPath: path }),
      await at.json('POST', '/files/rename', { from: path, to: 'y' }),
      await at.json('DELETE', '/files', { path }),
      await at.json('POST', '/links', { path, method: 'PUT' }),
      await at.json('POST', '/download-links', { path }),
    ];
    // A URL cannot carry half of a surrogate pair, so the server sees another, missing path.
    const codes = path === '\ud800' ? [400, 404] : [400];
    const queries = [
      await at.get(`/file?${query}`),
      await at.get(`/files?${query}`),
      await at.get(`/download?${query}`),
      await at.get(`/files?${query}`, {}, 'DELETE'),
    ];
    for (const { status } of bodies) expect(status).toBe(400);
    for (const { status } of queries) expect(codes).toContain(status);
    if (path !== '\ud800') expect((await at.json('PUT', `/file?${query}`, { x: 1 })).status).toBe(400);
    expect(readdirSync(at.directory)).toEqual(before);
  });
});

test.each(odd)('the path %j is an ordinary name below the root', async (path) => {
  const before = readdirSync(at.directory);
  expect(before).toEqual([]);
  expect((await at.put(path, 'odd')).status).toBe(201);
  expect(readFileSync(at.at(path), 'utf8')).toBe('odd');
  const got = await at.get(`/file?path=${encodeURIComponent(path)}`);
  expect(await got.text()).toBe('odd');
});

describe('a link that leads out', () => {
  beforeEach(() => {
    symlinkSync(canary.path, at.at('out'));
    symlinkSync('../../../../../../etc/passwd', at.at('passwd'));
  });

  test('is not followed by any route', async () => {
    const answers = [
      await at.json('GET', '/file?path=passwd'),
      await at.json('GET', '/file?path=out/secret.txt'),
      await at.json('GET', '/files?path=out'),
      await at.json('GET', '/download?path=out'),
      await at.put('out/new.txt', 'x'),
      await at.put('passwd', 'x'),
      await at.json('DELETE', '/files?path=out/secret.txt'),
      await at.json('POST', '/files/rename', { from: 'out/secret.txt', to: 'mine' }),
    ];
    for (const answer of answers) expect(codeOf(answer)).toBe('E_SANDBOX_VIOLATION');
    await at.put('mine', 'x');
    const out = await at.json('POST', '/files/rename', { from: 'mine', to: 'out/mine' });
    expect(codeOf(out)).toBe('E_SANDBOX_VIOLATION');
    const listed = await at.json('GET', '/files?recursive=true');
    expect(listed.json.files.map(({ path }: { path: string }) => path)).toEqual(['mine', 'out', 'passwd']);
  });
});

test('control files are not written, moved or deleted', async () => {
  mkdirSync(at.at('.git/hooks'), { recursive: true });
  writeFileSync(at.at('.git/config'), '[core]\n');
  writeFileSync(at.at('.git/HEAD'), 'ref: refs/heads/main\n');
  mkdirSync(at.at('.git/objects'));
  writeFileSync(at.at('.mcp.json'), '{}');
  for (const path of ['.git/config', '.git/hooks/pre-commit', '.mcp.json']) {
    expect(codeOf(await at.put(path, 'evil')), path).toBe('E_CONTROL_FILE');
    expect(codeOf(await at.json('POST', '/files', { path, contentBase64: '' }))).toBe('E_CONTROL_FILE');
  }
  for (const path of ['.git', '.git/config', '.mcp.json']) {
    expect(codeOf(await at.json('DELETE', `/files?path=${path}&recursive=true`)), path).toBe('E_CONTROL_FILE');
    expect(codeOf(await at.json('POST', '/files/rename', { from: path, to: 'x' })), path).toBe('E_CONTROL_FILE');
  }
  await at.put('hook', 'evil');
  expect(codeOf(await at.json('POST', '/files/rename', { from: 'hook', to: '.git/hooks/post-commit' }))).toBe(
    'E_CONTROL_FILE',
  );
  expect(readFileSync(at.at('.git/config'), 'utf8')).toBe('[core]\n');
});

test('control files and git directories cannot be created by uploads either', async () => {
  for (const path of ['.claude/settings.json', '.vscode/tasks.json', '.mcp.json', 'lib/.git/config', 'lib/.git']) {
    expect(codeOf(await at.put(path, 'evil')), path).toBe('E_CONTROL_FILE');
    expect(codeOf(await at.json('POST', '/files', { path, contentBase64: '' })), path).toBe('E_CONTROL_FILE');
  }
  for (const path of ['bare/objects/x', 'bare/config', 'bare/HEAD']) await at.put(path, '');
  expect(codeOf(await at.put('bare/refs/heads/x', ''))).toBe('E_CONTROL_FILE');
  expect(readdirSync(at.directory)).toEqual(['bare']);
});

test('every change, and every failed one, is in the audit trail with its actor and path', async () => {
  const before = (await at.audit()).length;
  await at.put('a.txt', 'one');
  await at.json('POST', '/files/rename', { from: 'a.txt', to: 'b.txt' });
  await at.json('DELETE', '/files?path=b.txt');
  writeFileSync(at.at('.mcp.json'), '{}');
  await at.put('.mcp.json', 'x');
  mkdirSync(at.at('dir'));
  await at.put('dir', 'x');
  await at.json('POST', '/links', { path: 'a.txt' });
  const rows = (await at.audit()).slice(before);
  expect(rows.map(({ action }) => action)).toEqual([
    ...[
      'file.write',
      'file.rename',
      'file.remove',
      'file.write',
      'file.write.failed',
      'file.write',
      'file.write.failed',
      'file.link',
    ],
  ]);
  expect(new Set(rows.map(({ target }) => target))).toEqual(new Set([at.workspaceId]));
  expect(rows.every(({ actor }) => /^key key_[0-9a-f]{24}$/.test(actor))).toBe(true);
  expect(JSON.parse(rows[0]?.details ?? '')).toEqual({ path: 'a.txt' });
  expect(JSON.parse(rows[6]?.details ?? '')).toEqual({ path: 'dir', code: 'E_NOT_A_FILE' });
});

test('a key with only the scope read changes nothing', async () => {
  await at.put('a.txt', 'kept');
  const { secret } = await at.newKey('reader', ['read']);
  const send = (method: string, path: string, body?: unknown) =>
    at.fixture.send(method, at.root + path, { token: secret, ...(body !== undefined && { body }) });
  const refused = [
    await send('PUT', '/file?path=a.txt', 'x'),
    await send('POST', '/files', { path: 'a.txt', contentBase64: '' }),
    await send('PATCH', '/files', { path: 'a.txt', newPath: 'b' }),
    await send('POST', '/files/rename', { from: 'a.txt', to: 'b' }),
    await send('DELETE', '/files?path=a.txt'),
    await send('POST', '/links', { path: 'a.txt', method: 'PUT' }),
  ];
  for (const answer of refused) expect(answer.status).toBe(403);
  expect(await send('GET', '/files')).toMatchObject({ status: 200 });
  expect(await send('POST', '/links', { path: 'a.txt' })).toMatchObject({ status: 201 });
  expect(readFileSync(at.at('a.txt'), 'utf8')).toBe('kept');
});
