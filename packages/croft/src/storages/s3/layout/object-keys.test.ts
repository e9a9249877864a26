import { expect, test } from 'vitest';
import { pathFromBytes } from '../../../lib/files/path-bytes.ts';
import { ancestorsOf, keyOfPath, pathOfFileOrMarker, pathOfKey } from './object-keys.ts';

test.each([
  'a',
  'src/main.ts',
  'spaces and ümlauts/日本語 🎉',
  'a%20b',
  '100%',
  '%{',
  '%{41}',
  '%%{41}%{}',
  'tab\there/new\nline/del\u007f',
  'back\\slash:*?"<>|',
  '.git/config',
  '.croft/x',
  '\ufffd replaced \ufffe',
  pathFromBytes(Buffer.from([0x61, 0xff, 0x2f, 0xc3, 0x28, 0x80])),
])('%j can be read back from its key', (path) => {
  const key = keyOfPath(path);
  expect(key).toBeDefined();
  expect(key?.isWellFormed()).toBe(true);
  expect([...(key ?? '')].every((character) => character >= ' ')).toBe(true);
  expect(pathOfKey(key ?? '')).toBe(path);
});

test('an ordinary path is its own key', () => {
  for (const path of ['a b.txt', 'ü/日本', 'a%20b', '100%', '{x}']) expect(keyOfPath(path)).toBe(path);
});

test.each([
  '',
  '/',
  '/etc/passwd',
  'a//b',
  'a/',
  '.',
  '..',
  '../x',
  'a/../b',
  'a/./b',
  'a/..',
  'a\0b',
  'a%{00}b',
  // Each of these would be a second key for the same file.
  '%{61}',
  '%{c3}%{a9}',
  '%{2f}etc',
  '%{2e}%{2e}/x',
  '%{2E}',
  'a\nb',
  'a/.croft-tmp-x',
  'x'.repeat(256),
  `${'d/'.repeat(500)}x`,
  '\ud800',
])('%j is not a key of croft', (key) => {
  expect(pathOfKey(key) === undefined || keyOfPath(pathOfKey(key) ?? '') === key).toBe(true);
  if (key !== '%{2E}') expect(pathOfKey(key)).toBeUndefined();
});

test('a path too long for a key has none', () => {
  expect(keyOfPath('d/'.repeat(500))).toBeUndefined();
});

test('markers and parent keys of a path', () => {
  expect(pathOfFileOrMarker('a/b/')).toBe('a/b');
  expect(pathOfFileOrMarker('a/b')).toBe('a/b');
  expect(pathOfFileOrMarker('/')).toBeUndefined();
  expect(ancestorsOf('a/b/c')).toEqual(['a', 'a/b']);
  expect(ancestorsOf('a')).toEqual([]);
});

test('no two of many random paths share a key', () => {
  const seen = new Map<string, string>();
  const alphabet = [0x25, 0x7b, 0x7d, 0x34, 0x31, 0xc3, 0xa9, 0xff, 0x61, 0x2f, 0x0a];
  let state = 1;
  const next = () => (state = (state * 48271) % 2147483647);
  for (let count = 0; count < 20_000; count++) {
    const bytes = Buffer.from(Array.from({ length: (next() % 8) + 1 }, () => alphabet[next() % alphabet.length]!));
    const path = pathFromBytes(bytes);
    const key = keyOfPath(path)!;
    expect(seen.get(key) ?? path).toBe(path);
    seen.set(key, path);
    if (path.split('/').every((name) => name !== '')) expect(pathOfKey(key)).toBe(path);
  }
});
