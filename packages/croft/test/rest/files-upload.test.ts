import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { AppError } from '@croft/protocol';
import { describe, expect, test, vi } from 'vitest';
import { guardFiles } from '../../src/core/quota/guard-files.ts';
import { type AccountStorage, createQuotaGuard } from '../../src/core/quota/quota-guard.ts';
import { at, mebibyte, patience } from './files-contents-fixture.ts';
import { openFilesFixture } from './files-fixture.ts';
import { codeOf } from './fixture.ts';

describe('an upload', () => {
  const open = (headers: Record<string, string>) => {
    const url = `${at.fixture.url}${at.root}/file?path=dir/up.bin`;
    return httpRequest(url, { method: 'PUT', headers: { authorization: `Bearer ${at.token}`, ...headers } });
  };

  test('stores exactly the bytes, with a length and without', async () => {
    const bytes = randomBytes(3 * mebibyte);
    expect(await at.put('a.bin', bytes)).toMatchObject({ status: 201 });
    expect(readFileSync(at.at('a.bin')).equals(bytes)).toBe(true);
    const request = open({});
    for (let start = 0; start < bytes.length; start += 100_000) request.write(bytes.subarray(start, start + 100_000));
    request.end();
    const [response] = await once(request, 'response');
    expect(response.statusCode).toBe(201);
    response.resume();
    expect(readFileSync(at.at('dir/up.bin')).equals(bytes)).toBe(true);
    expect(await at.put('empty', '')).toMatchObject({ status: 201 });
    expect(statSync(at.at('empty')).size).toBe(0);
  });

  test('over the limit by its length is refused before it is sent', async () => {
    const request = open({ 'content-length': String(1024 ** 4) });
    request.flushHeaders();
    const [response] = await once(request, 'response');
    expect(response.statusCode).toBe(413);
    response.resume();
    request.destroy();
    expect(readdirSync(at.directory)).toEqual([]);
  });

  test('over the limit by its bytes is refused while it is sent, and leaves nothing', async () => {
    const request = open({});
    request.on('error', () => {});
    const chunk = Buffer.alloc(mebibyte);
    let sent = 0;
    const pump = () => {
      if (request.destroyed) return;
      sent += chunk.length;
      if (request.write(chunk)) setImmediate(pump);
    };
    request.on('drain', pump);
    pump();
    const [response] = await once(request, 'response');
    expect(response.statusCode).toBe(413);
    response.resume();
    request.destroy();
    expect(sent).toBeGreaterThan(7 * mebibyte);
    await vi.waitFor(() => expect(readdirSync(at.directory)).toEqual([]), patience);
  });

  test.each([
    ['a length', { 'content-length': '1000000' }],
    ['none', {}],
  ])('with %s leaves nothing if its client disconnects', async (_, headers) => {
    await at.put('dir/up.bin', 'before');
    const request = open(headers as Record<string, string>);
    request.on('error', () => {});
    request.write(Buffer.alloc(500_000));
    const half = () => readdirSync(at.at('dir')).filter((name) => name.startsWith('.croft-tmp-'));
    await vi.waitFor(() => expect(half()).toHaveLength(1), patience);
    request.destroy();
    await vi.waitFor(() => expect(readdirSync(at.at('dir'))).toEqual(['up.bin']), patience);
    expect(readFileSync(at.at('dir/up.bin'), 'utf8')).toBe('before');
    await vi.waitFor(async () => expect((await at.audit()).at(-1)?.action).toBe('file.write.failed'), patience);
  });

  test('as a part of a file, or compressed, is refused', async () => {
    expect(await at.put('a', 'x', { 'content-range': 'bytes 0-0/5' })).toMatchObject({ status: 400 });
    expect(await at.put('a', 'x', { 'content-encoding': 'gzip' })).toMatchObject({ status: 400 });
    expect(readdirSync(at.directory)).toEqual([]);
  });
});

test('without free space writes nothing, also if the disk fills in the middle', async () => {
  let used = 0;
  const account: AccountStorage = {
    async ready() {},
    invalidate() {},
    left: () => 5 * mebibyte - used,
    mustHave(bytes) {
      if (bytes > account.left()) throw new AppError('E_QUOTA', 'full');
    },
    charge(bytes) {
      used += bytes;
    },
  };
  const guard = createQuotaGuard({ account, tree: () => Promise.reject(new Error('there is no quota of its own')) });
  await using small = await openFilesFixture({
    wrapFileAccess: (door) => ({ ...door, files: guardFiles(door.files, guard) }),
  });
  expect(await small.put('a.bin', Buffer.alloc(4 * mebibyte))).toMatchObject({ status: 201 });
  expect(codeOf(await small.put('b.bin', Buffer.alloc(9 * mebibyte)))).toBe('E_QUOTA');
  expect(readdirSync(small.directory)).toEqual(['a.bin']);
  expect(await small.put('a.bin', Buffer.alloc(3 * mebibyte))).toMatchObject({ status: 200 });
});

test('runs inside the wrapper of its workspace, whose failure is the answer', async () => {
  const calls: string[] = [];
  await using kept = await openFilesFixture({
    wrapFileAccess: (door) => ({
      ...door,
      async wrapCall({ access, tool, title }, work) {
        calls.push(`${access} ${tool} ${title}`);
        const done = await work();
        if (title === 'conflict.txt') throw new AppError('E_CONFLICT', 'somebody was faster');
        return done;
      },
    }),
  });
  await kept.put('a.txt', 'x');
  await kept.get('/file?path=a.txt');
  await kept.json('POST', '/files/rename', { from: 'a.txt', to: 'b.txt' });
  await kept.json('DELETE', '/files?path=b.txt');
  await kept.json('GET', '/files');
  expect(calls).toEqual([
    'read files a.txt',
    'write file.write a.txt',
    'read files a.txt',
    'write file.rename a.txt → b.txt',
    'write file.remove b.txt',
    'read files ',
  ]);
  expect(codeOf(await kept.put('conflict.txt', 'x'))).toBe('E_CONFLICT');
});

test('to a read-only workspace is refused', async () => {
  await using kept = await openFilesFixture({ wrapFileAccess: (door) => ({ ...door, access: 'read-only' }) });
  writeFileSync(kept.at('a.txt'), 'x');
  expect(codeOf(await kept.put('a.txt', 'y'))).toBe('E_READ_ONLY');
  expect(codeOf(await kept.json('DELETE', '/files?path=a.txt'))).toBe('E_READ_ONLY');
  expect(await (await kept.get('/file?path=a.txt')).text()).toBe('x');
});
