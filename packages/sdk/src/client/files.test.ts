import { readFileSync, writeFileSync } from 'node:fs';
import type { FileEvent } from '@croft/protocol';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openFilesFixture, type RestFilesFixture } from '../../../croft/test/rest/files-fixture.ts';
import { createClient } from './create-client.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let at: RestFilesFixture;
let files: ReturnType<ReturnType<typeof createClient>['files']>;

beforeAll(async () => {
  at = await openFilesFixture();
  files = createClient({ baseUrl: at.fixture.url, token: at.token }).files(at.workspaceId);
});

afterAll(() => at[Symbol.asyncDispose]());

const textOf = (body: ReadableStream) => new Response(body).text();

test('uploads, downloads, lists, renames and deletes files', async () => {
  const stream = new Blob(['of ', 'a']).stream();
  const written = await files.upload('dir/a.txt', stream, { isNew: true });
  expect(written).toMatchObject({ path: 'dir/a.txt', sizeBytes: 4 });
  await expect(files.upload('dir/a.txt', 'x', { isNew: true })).rejects.toMatchObject({
    code: 'E_PRECONDITION_FAILED',
  });
  await expect(files.upload('dir/a.txt', 'x', { ifMatch: '"z"' })).rejects.toMatchObject({
    code: 'E_PRECONDITION_FAILED',
  });

  const got = await files.download('dir/a.txt');
  expect([await textOf(got.body), got.etag]).toEqual(['of a', written.etag]);
  expect(await textOf((await files.download('dir/a.txt', { range: { start: 1, end: 3 } })).body)).toBe('f ');
  expect(await files.download('dir/a.txt', { ifNoneMatch: got.etag })).toMatchObject({ isSame: true });
  await expect(files.download('none')).rejects.toMatchObject({ code: 'E_FILE_NOT_FOUND' });

  await files.rename('dir/a.txt', 'dir/b.txt');
  expect((await files.list({ path: 'dir', etags: true })).files).toMatchObject([{ path: 'dir/b.txt', etag: got.etag }]);
  for (let index = 0; index < 7; index++) await files.upload(`many/${index}`, 'x');
  const all = await Array.fromAsync(files.all({ recursive: true, limit: 2 }));
  expect(all.map(({ path }) => path)).toEqual([
    'dir',
    'dir/b.txt',
    'many',
    ...[0, 1, 2, 3, 4, 5, 6].map((n) => `many/${n}`),
  ]);
  expect(await files.remove('many', { recursive: true })).toBe(8);
});

test('makes links and zips', async () => {
  await files.upload('dir/b.txt', 'of b');
  const put = await files.link('by-link.txt', { method: 'PUT', expiresInSeconds: 60 });
  await fetch(put.url, { method: 'PUT', body: 'x' });
  expect(readFileSync(at.at('by-link.txt'), 'utf8')).toBe('x');
  const zip = Buffer.from(await new Response(await files.zip({ path: 'dir' })).arrayBuffer());
  expect(zip.subarray(0, 2).toString()).toBe('PK');
  expect(zip.includes('b.txt')).toBe(true);
});

test('follows changes until it is told to stop', async () => {
  const stop = new AbortController();
  const seen: FileEvent[] = [];
  const following = (async () => {
    for await (const event of files.events({ signal: stop.signal })) seen.push(event);
  })().catch((thrown) => thrown);
  let count = 0;
  const reported = () => seen.some(({ type, path = '' }) => type === 'create' && path.startsWith('fed'));
  await vi.waitFor(
    () => {
      writeFileSync(at.at(`fed${count++}`), 'x');
      expect(reported()).toBe(true);
    },
    { timeout: 20_000, interval: 100 },
  );
  stop.abort();
  await following;
  const other = createClient({ baseUrl: at.fixture.url, token: 'nobodys' }).files(at.workspaceId);
  await expect(other.events().next()).rejects.toMatchObject({ code: 'E_UNAUTHORIZED' });
});
