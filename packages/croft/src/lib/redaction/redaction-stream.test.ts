import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expectCheap } from '../../../test/support/expect-cheap.ts';
import { createSecretMarker } from './redact.ts';
import { createRedactionStream } from './redaction-stream.ts';

const material = (lines: number) =>
  Array.from({ length: lines }, (_, line) => Buffer.alloc(48, `key line ${line} of some length`).toString('base64'));
const key = ['-----BEGIN RSA PRIVATE KEY-----', ...material(6), 'QUJDREVGR0g9', '-----END RSA PRIVATE KEY-----'];

const secrets: [string, string][] = [
  ['plain', 'correct horse battery'],
  ['random', 'q8Zt3vK1pX7mB4nW9sL2dF6g'],
  ['lines', 'first line of it\nsecond line of it\nthird-9xKq27Lm3Vb81'],
  ['json', '{"client_email": "a@b.c", "private": "9aKd83Lsp02QmVx71Zt"}\n'],
];
const marker = createSecretMarker(secrets);
const stream = () => createRedactionStream(() => marker.finder);

const fragment = fc.oneof(
  fc.constantFrom(
    ...secrets.map(([, value]) => value),
    ...secrets.flatMap(([, value]) => [value.slice(0, 9), value.slice(5), Buffer.from(value).toString('base64')]),
    key.join('\n'),
    JSON.stringify(key.join('\n')),
    key.slice(0, 5).join('\n'),
    key.slice(4).join('\n'),
    ...key,
    'ghp_0123456789abcdefghijABCDEFGHIJ0123456789',
    'sk-ant-api03-aB3dE5fG7hJ9kL1mN3pQ5rS7',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dBjftJeZ4CVPmB92K27uhbUJU1p1r_wW1g',
    'postgres://user:hunter22@db.example/x',
    'DB_PASSWORD=s3cr3tValue99',
    'password: hunter22 # of it',
    'password: hunter22 and more',
    '"apiKey": "a8Fk29Zm4Qp71Xw3"',
    'Authorization: Bearer abcdef0123456789ABC',
    'const a = { b: 1 };',
    'Downloading 12 of 40 ... ',
    '10 passed',
  ),
  fc.constantFrom('\n', '\n', ' ', '', '\t', '\\n', '"', '=', ': ', '-----'),
  fc.string({ maxLength: 12 }),
);
const wholeText = fc.array(fragment, { maxLength: 24 }).map((parts) => parts.join(''));
const cuts = fc.array(fc.nat(2000), { maxLength: 12 });

function split(text: string, at: readonly number[]): string[] {
  const ends = [...new Set(at.map((each) => each % (text.length + 1)))].sort((a, b) => a - b);
  return [...ends, text.length].map((end, index) => text.slice(ends[index - 1] ?? 0, end));
}

function redactInPieces(pieces: readonly string[]): string {
  const { push, end } = stream();
  return pieces.map(push).join('') + end();
}

test('a text in pieces is redacted as the whole text is', () => {
  fc.assert(
    fc.property(wholeText, cuts, (text, at) => {
      expect(redactInPieces(split(text, at))).toBe(marker.redact(text));
    }),
    { numRuns: 4000 },
  );
});

test('a text in single characters is redacted as the whole text is', () => {
  fc.assert(
    fc.property(wholeText, (text) => {
      expect(redactInPieces([...text])).toBe(marker.redact(text));
    }),
    { numRuns: 400 },
  );
});

test.each([
  ['a whole line', 'building\n', 'building\n'],
  ['words of a line that goes on', 'Downloading 12 of 40', 'Downloading 12 of '],
  ['no words of a line that holds a value', 'step=build 12 of 40', ''],
  ['a line before one that may be secret', 'ok\nfirst line of it\n', 'ok\n'],
  ['a line before a key', 'ok\n-----BEGIN PRIVATE KEY-----\nAbc', 'ok\n'],
  ['lines before those that may end a key', `ok\n${material(2).join('\n')}\n`, 'ok\n'],
])('%s is shown at once', (_, text, shown) => {
  expect(stream().push(text)).toBe(shown);
});

test.each([
  ['a plain one', 'x'.repeat(400_000)],
  ['base64 of something', Buffer.alloc(300_000, 'some text 12').toString('base64')],
  ['one with a known secret in its middle', `${'x'.repeat(200_001)} ${secrets[0]?.[1]} ${'y'.repeat(200_000)}`],
])('a very long line is shown as it is redacted: %s', (_, text) => {
  const pieces = text.match(/[\s\S]{1,5000}/g) ?? [];
  expect(redactInPieces(pieces) === marker.redact(text)).toBe(true);
});

const long = 'a8Fk29Zm4Qp71Xw3'.repeat(20_000);
test.each([
  ['a quoted value', `{"api_key": "${long}"}`],
  ['a bare value', `API_KEY=${long}`],
  ['a JWT', `eyJ${long}.eyJ${long}.${long}`],
  ['a key without an end', `-----BEGIN PRIVATE KEY-----\n${'word a8Fk29Zm4Qp7 and more\n'.repeat(20_000)}`],
])('a secret that is too long to be held back is never shown: %s', (_, text) => {
  const shown = redactInPieces(`before\n${text}\nafter; more\n`.match(/[\s\S]{1,5000}/g) ?? []);
  expect(shown).toMatch(/^before\n[\s\S]{0,20}\[REDACTED:[a-z0-9-]+\]/);
  expect(shown).not.toContain('a8Fk29Zm4Qp7');
  expect(shown).toContain('more\n');
});

test('a stream takes time in proportion to its text', async () => {
  const text = `${material(50).join('\n')}\n${'a=b '.repeat(2000)}\n`.repeat(40);
  await expectCheap(() => redactInPieces(text.match(/[\s\S]{1,8000}/g) ?? []), 60);
});
