import { expect, test } from 'vitest';
import { emptyTreeHash, type PathChange, type TreeEntry } from '../../../../core/history/ports/tree.ts';
import type { KnownObject } from '../working-copy/manifest.ts';
import { conflictPath } from './conflicts.ts';
import { planCommit } from './plan-commit.ts';

const file = (hash: string, mode = 0o644): TreeEntry => ({ kind: 'file', mode, size: 1, hash });
const directory = (hash: string, mode = 0o755): TreeEntry => ({ kind: 'directory', mode, size: 0, hash });
const known = (entry: TreeEntry): KnownObject => ({ ...entry, etag: `etag of ${entry.hash}` });

async function plan(changes: PathChange[], bucket: Record<string, KnownObject> = {}, missed: string[] = []) {
  const around = { known: (key: string) => bucket[key], entryAt: async () => undefined, missed: new Set(missed) };
  const { operations, tooLong } = await planCommit(changes, around);
  const reports = operations.map(
    ({ key, entry, known: there }) => `${entry ? 'put' : 'remove'} ${key} ${there?.etag ?? 'new'}`,
  );
  return { told: reports, tooLong };
}

test('lists new, changed and deleted files, each with the expected version in the bucket', async () => {
  const bucket = { b: known(file('1')), c: known(file('2')) };
  const changes = [
    { path: 'a', after: file('9') },
    { path: 'b', before: file('1'), after: file('8') },
    { path: 'c', before: file('2') },
  ];
  expect((await plan(changes, bucket)).told).toEqual(['put a new', 'put b etag of 1', 'remove c etag of 2']);
});

test('a file that the bucket has already is not sent again, unless its mode differs', async () => {
  const bucket = { a: known(file('1')) };
  expect((await plan([{ path: 'a', after: file('1') }], bucket)).told).toEqual([]);
  expect((await plan([{ path: 'a', after: file('1', 0o755) }], bucket)).told).toEqual(['put a etag of 1']);
});

test('a file that could not be read is never removed from the bucket', async () => {
  const bucket = { 'd/a': known(file('1')), 'd/b': known(file('2')), c: known(file('3')) };
  const gone = [
    { path: 'd/a', before: file('1') },
    { path: 'd/b', before: file('2') },
    { path: 'c', before: file('3') },
  ];
  expect((await plan(gone, bucket, ['d'])).told).toEqual(['remove c etag of 3']);
  expect((await plan(gone, bucket, ['d/a', 'c'])).told).toEqual(['remove d/b etag of 2']);
});

test('an empty directory gets a marker', async () => {
  expect((await plan([{ path: 'd', after: directory(emptyTreeHash) }])).told).toEqual(['put d/ new']);
  expect((await plan([{ path: 'd', after: directory('full') }])).told).toEqual([]);
  expect((await plan([{ path: 'd', after: directory('full', 0o700) }])).told).toEqual(['put d/ new']);
  const bucket = { 'd/': known(directory(emptyTreeHash)), 'd/x': known(file('1')) };
  const removed = [{ path: 'd/x', before: file('1') }];
  expect((await plan(removed, bucket)).told).toEqual(['remove d/x etag of 1', `remove d/ etag of ${emptyTreeHash}`]);
  const replaced = [{ path: 'd', before: directory(emptyTreeHash), after: file('2') }];
  expect((await plan(replaced, bucket)).told).toEqual(['put d new', `remove d/ etag of ${emptyTreeHash}`]);
});

test('temporary files of croft are left out', async () => {
  expect((await plan([{ path: 'a/.croft-tmp-x', after: file('1') }])).told).toEqual([]);
});

test('a path too long for a key is reported while it exists', async () => {
  const path = `${'d/'.repeat(600)}x`;
  expect(await plan([{ path, after: file('1') }])).toEqual({ told: [], tooLong: [path] });
  expect(await plan([{ path, before: file('1') }])).toEqual({ told: [], tooLong: [] });
});

test('the name for a conflicting copy is valid on a disk and always the same', () => {
  const hash = '0123456789abcdef';
  expect(conflictPath('a/b.ts', { hash })).toBe('a/b.ts.conflict-01234567');
  expect(conflictPath('b', { hash }, 2)).toBe('b.conflict-01234567-2');
  const long = conflictPath(`d/${'ü'.repeat(127)}`, { hash });
  expect(Buffer.byteLength(long.slice(2))).toBeLessThanOrEqual(255);
  expect(long).toMatch(/^d\/ü+\.conflict-01234567$/);
});
