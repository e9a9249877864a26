import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createObjectStore } from '../../src/storages/s3/client/object-store.ts';
import { createS3Files } from '../../src/storages/s3/direct/s3-files.ts';
import { sendable } from '../contracts/object-store.ts';
import { startS3 } from '../support/s3/s3-server.ts';

const server = await startS3();
const bucket = (await server?.bucket('direct')) ?? '';
const root = '/workspaces/site';

/** A workspace in the bucket; what is beside it must never be seen. */
async function plant(
  keys: Record<string, string>,
  links: Record<string, string> = {},
  deleted: readonly string[] = [],
) {
  const namespace = `fs-${randomBytes(6).toString('hex')}`;
  const settings = { ...server!, bucket, credentials: server!, allowPrivate: true, prefix: 'p' };
  const objects = createObjectStore(settings);
  onTestFinished(() => objects.close());
  const put = (key: string, text: string, metadata: Record<string, string> = {}) =>
    objects.put(`${namespace}/${key}`, sendable(text), { metadata });
  await Promise.all([
    ...Object.entries(keys).map(([key, text]) => put(key, text)),
    ...Object.entries(links).map(([key, text]) => put(key, text, { 'croft-kind': 'link' })),
    ...deleted.map((key) => put(key, 'croft: deleted\n', { 'croft-kind': 'deleted' })),
    objects.put(`${namespace}-evil/secret.txt`, sendable('secret')),
    objects.put('secret.txt', sendable('secret')),
  ]);
  const files = createS3Files({ objects, namespace, names: [root] });
  return { files, objects, namespace, put };
}

const names = async (files: Awaited<ReturnType<typeof plant>>['files'], path = '', limit = 100) =>
  (await files.list(path, { limit })).entries.map(({ name, kind }) => `${kind} ${name}`);

describe.skipIf(!server)('files read straight from a bucket', () => {
  test('are read, also by absolute path, with a version from their bytes', async () => {
    const { files, put } = await plant({ 'a/b.txt': 'hello', 'empty.txt': '' });
    const read = await files.read('a/b.txt');
    expect(read).toMatchObject({ path: 'a/b.txt', kind: 'file', size: 5, bytes: Buffer.from('hello') });
    expect(await files.read(`${root}/a/./b.txt`)).toEqual(read);
    expect(await files.version('a/b.txt')).toMatchObject({ version: read.version, mtimeMs: read.mtimeMs });
    expect((await files.read('empty.txt')).bytes).toHaveLength(0);
    await put('a/b.txt', 'hellO');
    expect((await files.version('a/b.txt'))?.version).not.toBe(read.version);
    expect(await files.stat('a')).toMatchObject({ path: 'a', kind: 'directory' });
    expect(await files.stat('')).toMatchObject({ path: '', kind: 'directory' });
    await expect(files.read('a/b.txt', { maxBytes: 4 })).rejects.toMatchObject({ code: 'E_TOO_LARGE' });
  });

  test('are read in pieces, completely and in part', async () => {
    const text = 'x'.repeat(700_000) + 'y'.repeat(300_000);
    const { files } = await plant({ 'big.txt': text });
    await using file = await files.open('big.txt');
    expect((await buffer(file.chunks())).toString()).toBe(text);
    expect((await buffer(file.chunks({ start: 699_999, end: 700_001 }))).toString()).toBe('xy');
    expect((await buffer(file.chunks({ start: 999_999, end: 2_000_000 }))).toString()).toBe('y');
    expect(await buffer(file.chunks({ start: 1_000_000, end: 2_000_000 }))).toHaveLength(0);
  });

  test.each(['missing', 'a/missing', 'a/b.txt.', 'missing/deep/er', 'empty', 'a/b'])(
    '%s is not found',
    async (path) => {
      const { files } = await plant({ 'a/b.txt': 'x', 'ab/c': 'x' });
      await expect(files.stat(path)).rejects.toMatchObject({ code: 'E_FILE_NOT_FOUND' });
      await expect(files.read(path)).rejects.toMatchObject({ code: 'E_FILE_NOT_FOUND' });
      await expect(files.list(path, { limit: 5 })).rejects.toMatchObject({ code: 'E_FILE_NOT_FOUND' });
      expect(await files.version(path)).toBeUndefined();
    },
  );

  test('a directory is not a file, and a file not a directory', async () => {
    const { files } = await plant({ 'a/b.txt': 'x' });
    await expect(files.read('a')).rejects.toMatchObject({ code: 'E_NOT_A_FILE' });
    await expect(files.version('')).rejects.toMatchObject({ code: 'E_NOT_A_FILE' });
    await expect(files.list('a/b.txt', { limit: 5 })).rejects.toMatchObject({ code: 'E_NOT_A_DIRECTORY' });
    await expect(files.read('a/b.txt/c')).rejects.toMatchObject({ code: 'E_NOT_A_DIRECTORY' });
  });

  test('a listing shows one level, by name, with links, markers and times, and says if it is cut', async () => {
    const { files } = await plant(
      { 'b/x/1': '1', 'b/x/2': '2', 'b.txt': 'bb', 'b-c': '', 'dir/': '', ü: 'u', '.hidden': 'h', 'z/z/z': 'z' },
      { link: 'b.txt' },
    );
    const shown = [
      'file .hidden',
      'directory b',
      'file b-c',
      'file b.txt',
      'directory dir',
      'link link',
      'directory z',
      'file ü',
    ];
    expect(await names(files)).toEqual(shown);
    const { entries } = await files.list('', { limit: 100 });
    expect(entries.find(({ name }) => name === 'link')).toMatchObject({ target: 'b.txt' });
    const [time, none] = await files.modifiedTimes(['b.txt', 'nothing']);
    expect([time! > Date.now() - 3_600_000, none]).toEqual([true, 0]);
    expect(await names(files, 'dir')).toEqual([]);
    expect(await names(files, 'b')).toEqual(['directory x']);
    expect(await files.list('', { limit: 3 })).toMatchObject({ cut: true, entries: { length: 3 } });
    expect(await files.list('', { limit: 8 })).toMatchObject({ cut: false });
  });

  test('the content of a subdirectory is skipped without listing it', async () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`m/${index}`, '']));
    const { objects, namespace } = await plant({ ...many, 'a.txt': '', 'z.txt': '' });
    let listed = 0;
    // Lists like a bucket with pages of ten.
    async function* list(...args: Parameters<typeof objects.list>) {
      for (const page of await Array.fromAsync(objects.list(...args)))
        for (let at = 0; at < page.length; at += 10) {
          listed += 1;
          yield page.slice(at, at + 10);
        }
    }
    const files = createS3Files({ objects: { ...objects, list }, namespace, names: [root] });
    expect(await names(files)).toEqual(['file a.txt', 'directory m', 'file z.txt']);
    expect(listed).toBeLessThanOrEqual(3);
  });

  test('objects that are being removed are not found', async () => {
    const { files } = await plant({ 'a.txt': 'x', 'croft.txt': 'croft: deleted\n' }, {}, ['gone.txt', 'only/gone.txt']);
    expect(await names(files)).toEqual(['file a.txt', 'file croft.txt']);
    for (const path of ['gone.txt', 'only', 'only/gone.txt'])
      await expect(files.stat(path)).rejects.toMatchObject({ code: 'E_FILE_NOT_FOUND' });
    expect((await files.read('croft.txt')).bytes.toString()).toBe('croft: deleted\n');
  });

  test('keys that are no valid path are ignored', async () => {
    const hostile = [
      '../secret.txt',
      'a/../b',
      './c',
      'd//e',
      '/abs',
      '..',
      '.',
      'x/..',
      'n%{00}ul',
      '.croft-tmp-1',
      'y/.croft-tmp-2',
    ];
    const { files } = await plant({ 'own.txt': 'own', ...Object.fromEntries(hostile.map((key) => [key, 'evil'])) });
    expect(await names(files)).toEqual(['file own.txt']);
    for (const path of ['a', 'd', 'x', 'y'])
      await expect(files.stat(path)).rejects.toMatchObject({ code: 'E_FILE_NOT_FOUND' });
    for (const path of ['../secret.txt', '/etc/passwd', 'a/../../secret.txt', '../fs-x'])
      await expect(files.read(path)).rejects.toMatchObject({ code: 'E_SANDBOX_VIOLATION' });
  });

  test('links inside are followed as on a disk', async () => {
    const { files } = await plant(
      { 'dir/a.txt': 'inside', 'dir/sub/b.txt': 'b' },
      {
        file: 'dir/a.txt',
        abs: `${root}/dir/a.txt`,
        d: './dir/',
        chain: 'file',
        'dir/up': '../dir/./a.txt',
        'dir/root': '..',
      },
    );
    for (const path of ['file', 'abs', 'd/a.txt', 'chain', 'dir/up', 'dir/root/dir/a.txt', 'd/root/d/root/file'])
      expect(await files.read(path)).toMatchObject({ path: 'dir/a.txt', bytes: Buffer.from('inside') });
    expect(await files.stat('d')).toMatchObject({ path: 'dir', kind: 'directory' });
    expect(await names(files, 'd/sub')).toEqual(['file b.txt']);
    expect(await files.stat('dir/root')).toMatchObject({ path: '', kind: 'directory' });
  });

  test.each([
    ['../x', 'E_SANDBOX_VIOLATION'],
    ['/etc/passwd', 'E_SANDBOX_VIOLATION'],
    ['/', 'E_SANDBOX_VIOLATION'],
    ['dir/../../x', 'E_SANDBOX_VIOLATION'],
    [`${root}/../other/secret.txt`, 'E_SANDBOX_VIOLATION'],
    [`${root}-evil/secret.txt`, 'E_SANDBOX_VIOLATION'],
    ['missing', 'E_DANGLING_LINK'],
    ['missing/../dir/a.txt', 'E_DANGLING_LINK'],
    ['link', 'E_LINK_LOOP'],
    ['link/link', 'E_LINK_LOOP'],
    ['dir/a.txt/x', 'E_NOT_A_DIRECTORY'],
  ])('a link to %s: %s', async (target, code) => {
    const { files } = await plant({ 'dir/a.txt': 'x' }, { link: target });
    for (const operate of [files.stat, files.read, files.open, files.version])
      await expect(operate('link')).rejects.toMatchObject({ code });
    await expect(files.list('link', { limit: 1 })).rejects.toMatchObject({ code });
    await expect(files.read('link/deeper')).rejects.toMatchObject({ code });
  });

  test('cannot be changed', async () => {
    const { files, objects, namespace } = await plant({ 'a.txt': 'x' });
    const signal = new AbortController().signal;
    const changes = [
      files.write('a.txt', Buffer.from('y')),
      files.change('a.txt', () => ({ bytes: Buffer.from('y') })),
      files.remove('a.txt', { recursive: false, signal }),
      files.rename('a.txt', 'b.txt'),
    ];
    for (const change of changes) await expect(change).rejects.toMatchObject({ code: 'E_READ_ONLY' });
    expect(await objects.head(`${namespace}/a.txt`)).toMatchObject({ size: 1 });
  });
});
