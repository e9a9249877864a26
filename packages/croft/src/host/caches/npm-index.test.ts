import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { cleanEntry } from './npm-index.ts';

function toLine(entry: unknown): string {
  const text = JSON.stringify(entry);
  return `${createHash('sha1').update(text).digest('hex')}\t${text}`;
}

const url = 'https://npm.example/@scope%2fone';
const entry = (more = {}, key = `make-fetch-happen:request-cache:${url}`) => ({
  ...{ key, integrity: 'sha512-x', time: 1, size: 2 },
  metadata: { time: 1, url, reqHeaders: { accept: 'x' }, resHeaders: { etag: '"a@b"' }, ...more },
});

test('an entry without secrets stays unchanged', () => {
  for (const line of [
    toLine(entry()),
    toLine(entry({}, 'pacote:tarball:git+ssh://git@git.example/one.git#abc')),
    toLine(entry({}, 'make-fetch-happen:request-cache:https://npm.example/@scope/one/-/one-1.0.0.tgz')),
  ])
    expect(cleanEntry(line)).toEqual([line]);
});

test('headers that npm does not always send are removed, and the hash stays valid for npm', () => {
  const reqHeaders = { accept: 'x', authorization: 'Bearer s3cret', Cookie: 's3cret' };
  expect(cleanEntry(toLine(entry({ reqHeaders })))).toEqual([toLine(entry())]);
});

test.each([
  ['a password in the key', entry({}, 'pacote:tarball:git+https://ada:s3cret@git.example/one.git')],
  ['a token in the key', entry({}, 'pacote:tarball:git+https://s3cret@git.example/one.git')],
  ['a password in the address', entry({ url: 'https://ada:s3cret@npm.example/one' })],
  ['a token to be asked with', entry({ url: 'https://npm.example/one?a=1&X-Amz-Signature=s3cret' })],
  ['where an answer leads', entry({ resHeaders: { location: 'https://cdn.example/one?access_token=s3cret' } })],
])('an entry with %s is left out', (_, fields) => {
  expect(cleanEntry(toLine(fields))).toEqual([]);
});

test.each(['', 'abc', 'abc\t{', 'abc\tnull'])(
  'a broken line gives no entry, or one without its content: %j',
  (line) => {
    expect(cleanEntry(line).join('')).not.toContain('abc');
  },
);
