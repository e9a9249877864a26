import { randomBytes } from 'node:crypto';
import { closeSync, ftruncateSync, openSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { ByteRange, Files } from '../../src/core/files/files.ts';
import { sha256 } from '../../src/lib/crypto/sha256.ts';
import { at, mebibyte, patience } from './files-contents-fixture.ts';
import { openFilesFixture } from './files-fixture.ts';
import { codeOf } from './fixture.ts';

async function bytesOf(response: Response): Promise<Buffer> {
  return Buffer.from(await response.arrayBuffer());
}

describe('a download', () => {
  test('has exactly the bytes, with headers that stop a browser from running them', async () => {
    const bytes = randomBytes(300_000);
    writeFileSync(at.at('a.html'), '<script>alert(1)</script>');
    writeFileSync(at.at('b.svg'), bytes);
    const page = await at.get('/file?path=a.html');
    expect(page.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    expect(page.headers.get('content-disposition')).toMatch(/^attachment; filename="a\.html"/);
    expect(page.headers.get('content-security-policy')).toContain('sandbox');
    const picture = await at.get('/file?path=b.svg');
    expect(picture.headers.get('content-type')).toBe('application/octet-stream');
    expect(picture.headers.get('content-length')).toBe('300000');
    expect(picture.headers.get('etag')).toBe(`"${sha256(bytes)}"`);
    expect((await bytesOf(picture)).equals(bytes)).toBe(true);
  });

  test('of a name with special characters has a safe header', async () => {
    const name = 'a"; filename="evil.exe\r\nX-Evil: 1\\ü';
    writeFileSync(at.at(name), 'x');
    const { headers } = await at.get(`/file?path=${encodeURIComponent(name)}`);
    expect(headers.get('x-evil')).toBeNull();
    const disposition = headers.get('content-disposition') ?? '';
    expect(disposition).toMatch(/^attachment; filename="[^"\\]*"; filename\*=UTF-8''[A-Za-z0-9%._~-]+$/);
    expect(decodeURIComponent(disposition.split("UTF-8''")[1] ?? '')).toBe(name);
  });

  test('of a file over the hash limit is complete, and reads no faster than it sends', async () => {
    const size = 100 * mebibyte;
    const taken: { bytes: number }[] = [];
    await using counted = await openFilesFixture({
      wrapFileAccess: (door) => ({ ...door, files: counting(door.files, taken) }),
    });
    const handle = openSync(counted.at('large.bin'), 'w');
    ftruncateSync(handle, size);
    closeSync(handle);
    const slow = await counted.get('/file?path=large.bin');
    expect(slow.headers.get('etag')).toMatch(/^"stat-/);
    const reader = slow.body?.getReader();
    await reader?.read();
    let total = 0;
    for await (const chunk of (await counted.get('/file?path=large.bin')).body ?? []) total += chunk.length;
    expect(total).toBe(size);
    // All of it went by meanwhile: of the one that is not read, what fits into sockets was asked for and no more.
    expect(taken[1]?.bytes).toBeGreaterThanOrEqual(size);
    expect(taken[0]?.bytes).toBeLessThan(size / 2);
    await reader?.cancel();
  });

  test('that is aborted closes the file', async () => {
    writeFileSync(at.at('large.bin'), Buffer.alloc(20 * mebibyte));
    const open = () =>
      readdirSync('/proc/self/fd')
        .flatMap((fd) => linkOf(fd))
        .filter((to) => to.includes('large.bin'));
    for (let index = 0; index < 10; index++) {
      const stop = new AbortController();
      const url = `${at.fixture.url}${at.root}/file?path=large.bin`;
      const response = await fetch(url, { signal: stop.signal, headers: { authorization: `Bearer ${at.token}` } });
      await response.body?.getReader().read();
      stop.abort();
    }
    await vi.waitFor(() => expect(open()).toEqual([]), patience);
    await at.get('/file?path=large.bin', {}, 'HEAD');
    await at.get('/file?path=large.bin', { range: 'bytes=99999999-' });
    await at.get('/file?path=large.bin', { 'if-none-match': '*' });
    expect(open()).toEqual([]);
  });

  test('of a file that shrinks meanwhile is cut off, and does not end normally', async () => {
    writeFileSync(at.at('shrinking.bin'), Buffer.alloc(30 * mebibyte, 1));
    const response = await at.get('/file?path=shrinking.bin');
    const reader = response.body?.getReader();
    await reader?.read();
    const handle = openSync(at.at('shrinking.bin'), 'r+');
    ftruncateSync(handle, 1000);
    closeSync(handle);
    const readAll = async () => {
      while (!(await reader?.read())?.done);
    };
    await expect(readAll()).rejects.toThrow();
  });

  test('of a folder, of a missing file and of an invalid path is refused', async () => {
    await at.put('dir/a.txt', 'x');
    expect(codeOf(await at.json('GET', '/file?path=dir'))).toBe('E_NOT_A_FILE');
    expect(codeOf(await at.json('GET', '/file?path=none'))).toBe('E_FILE_NOT_FOUND');
    expect(codeOf(await at.json('GET', '/file'))).toBe('E_INVALID_INPUT');
  });
});

/** How much is asked for of each file that is opened. */
function counting(files: Files, taken: { bytes: number }[]): Files {
  return {
    ...files,
    async open(path) {
      const file = await files.open(path);
      const count = { bytes: 0 };
      taken.push(count);
      async function* chunks(range?: ByteRange) {
        for await (const chunk of file.chunks(range)) {
          count.bytes += chunk.length;
          yield chunk;
        }
      }
      return { ...file, chunks };
    },
  };
}

function linkOf(fd: string): string[] {
  try {
    return [readlinkSync(`/proc/self/fd/${fd}`)];
  } catch {
    return [];
  }
}

describe('a part of a file', () => {
  const bytes = randomBytes(5000);
  const get = (range: string, more: Record<string, string> = {}) => at.get('/file?path=a.bin', { range, ...more });
  beforeEach(() => writeFileSync(at.at('a.bin'), bytes));

  test('is the same as a slice of the whole, for any range', async () => {
    const random = (max: number) => Math.floor(Math.random() * max);
    const ends = [0, 1, 4998, 4999, 5000, 5001, 100_000];
    for (let index = 0; index < 150; index++) {
      const [first, last] = [0, 0].map(() => (random(4) === 0 ? (ends[random(ends.length)] ?? 0) : random(6000)));
      const form = random(3);
      const [text, start, end] =
        form === 0
          ? [`bytes=${first}-${last}`, first ?? 0, Math.min(5000, (last ?? 0) + 1)]
          : form === 1
            ? [`bytes=${first}-`, first ?? 0, 5000]
            : [`bytes=-${last}`, Math.max(0, 5000 - (last ?? 0)), 5000];
      const answer = await get(text as string);
      const body = await bytesOf(answer);
      const expected = bytes.subarray(start as number, end as number);
      if (form === 0 && (last ?? 0) < (first ?? 0)) {
        expect(answer.status, text as string).toBe(200);
        expect(body.equals(bytes)).toBe(true);
      } else if (expected.length === 0) {
        expect(answer.status, text as string).toBe(416);
        expect(answer.headers.get('content-range')).toBe('bytes */5000');
      } else {
        expect(answer.status, text as string).toBe(206);
        expect(answer.headers.get('content-range')).toBe(`bytes ${start}-${(end as number) - 1}/5000`);
        expect(answer.headers.get('content-length')).toBe(String(expected.length));
        expect(body.equals(expected), text as string).toBe(true);
      }
    }
  });

  test.each(['bytes=0-1,3-4', 'bytes=a-b', 'lines=1-2', 'bytes=-', 'bytes 0-1', 'bytes=0--1'])(
    'is the whole file for a range of %j',
    async (range) => {
      const answer = await get(range);
      expect(answer.status).toBe(200);
      expect((await bytesOf(answer)).equals(bytes)).toBe(true);
    },
  );

  test('has the version of If-Range, or is the whole new file', async () => {
    const tag = `"${sha256(bytes)}"`;
    expect((await get('bytes=0-9', { 'if-range': tag })).status).toBe(206);
    for (const other of ['"another"', `W/${tag}`, 'Wed, 21 Oct 2015 07:28:00 GMT']) {
      expect((await get('bytes=0-9', { 'if-range': other })).status).toBe(200);
    }
  });

  test('of an empty file is refused', async () => {
    writeFileSync(at.at('a.bin'), '');
    expect((await get('bytes=0-')).status).toBe(416);
    expect((await get('bytes=-5')).status).toBe(416);
    expect((await at.get('/file?path=a.bin')).status).toBe(200);
  });
});

describe('conditional requests:', () => {
  const tagOf = (text: string) => `"${sha256(text)}"`;

  test('a GET is answered 304 for a known version, and HEAD has the same headers without the bytes', async () => {
    await at.put('a.txt', 'one');
    for (const tags of [tagOf('one'), '*', `"x", W/${tagOf('one')}`]) {
      const answer = await at.get('/file?path=a.txt', { 'if-none-match': tags });
      expect(answer.status).toBe(304);
      expect(answer.headers.get('etag')).toBe(tagOf('one'));
      expect(await answer.text()).toBe('');
    }
    expect((await at.get('/file?path=a.txt', { 'if-none-match': '"x"' })).status).toBe(200);
    expect((await at.get('/file?path=a.txt', { 'if-match': '"x"' })).status).toBe(412);
    const head = await at.get('/file?path=a.txt', {}, 'HEAD');
    expect(head.status).toBe(200);
    expect(head.headers.get('content-length')).toBe('3');
    expect(head.headers.get('etag')).toBe(tagOf('one'));
  });

  test('a PUT of a new file must be new, and one over a file needs its current version', async () => {
    const isNew = { 'if-none-match': '*' };
    expect(await at.put('a.txt', 'one', isNew)).toMatchObject({ status: 201 });
    expect(await at.put('a.txt', 'two', isNew)).toMatchObject({ status: 412 });
    expect(await at.put('a.txt', 'two', { 'if-match': '"another"' })).toMatchObject({ status: 412 });
    expect(await at.put('none.txt', 'two', { 'if-match': '*' })).toMatchObject({ status: 412 });
    const second = await at.put('a.txt', 'two', { 'if-match': tagOf('one') });
    expect(second).toMatchObject({ status: 200, json: { etag: tagOf('two'), sizeBytes: 3 } });
    expect(second.headers.get('etag')).toBe(tagOf('two'));
    expect(await at.put('a.txt', 'three', { 'if-match': '*' })).toMatchObject({ status: 200 });
    expect(await at.put('a.txt', 'four', { 'if-match': 'nonsense' })).toMatchObject({ status: 400 });
    expect(readFileSync(at.at('a.txt'), 'utf8')).toBe('three');
  });

  test('one of many concurrent writers of one version wins', async () => {
    await at.put('a.txt', 'seen');
    const texts = Array.from({ length: 10 }, (_, index) => `of ${index}`);
    const answers = await Promise.all(texts.map((text) => at.put('a.txt', text, { 'if-match': tagOf('seen') })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 412)]);
    const winner = texts[answers.findIndex(({ status }) => status === 200)];
    expect(readFileSync(at.at('a.txt'), 'utf8')).toBe(winner);
  });
});
