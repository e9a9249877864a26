import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { findPrivateKeys } from './private-keys.ts';
import { replaceSpans, type Span } from './spans.ts';

function redact(text: string): string {
  const found: Span[] = [];
  findPrivateKeys(text, found);
  return replaceSpans(text, found, () => '<key>');
}

const lines =
  randomBytes(288)
    .toString('base64')
    .match(/.{1,64}/g) ?? [];
const short = 'a1B2c3D4==';
const begin = '-----BEGIN RSA PRIVATE KEY-----';
const end = '-----END RSA PRIVATE KEY-----';
const key = [begin, ...lines, short, end].join('\n');
const encrypted = [begin, 'Proc-Type: 4,ENCRYPTED', 'DEK-Info: AES-128-CBC,0A1B', '', ...lines, short, end];

test.each([
  ['as it is', `a\n${key}\nb`, 'a\n<key>\nb'],
  ['without a kind', '-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----', '<key>'],
  ['of PGP', '-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQVYBF\n-----END PGP PRIVATE KEY BLOCK-----', '<key>'],
  ['encrypted', encrypted.join('\n'), '<key>'],
  ['with CRLF', key.replaceAll('\n', '\r\n'), '<key>'],
  ['two of them', `${key}\n${key}`, '<key>\n<key>'],
  ['in JSON', JSON.stringify({ key }), '{"key":"<key>"}'],
  ['in a program', `'${key.replaceAll('\n', "\\n' +\n  '")}'`, `'<key>'`],
  ['in a comment', key.replaceAll('\n', '\n# '), '<key>'],
  ['with line numbers', key.replaceAll('\n', '\n    12\t'), '<key>'],
  ['cut at the end', `x ${[begin, ...lines].join('\n')}`, 'x <key>'],
  ['cut in a line', [begin, ...lines].join('\n').slice(0, -30), '<key>'],
  ['cut at the end, with other text after it', `${[begin, ...lines, short].join('\n')}\nexit: 1`, '<key>\nexit: 1'],
  ['encrypted and cut', encrypted.slice(0, -1).join('\n'), '<key>'],
  ['cut at the start', `${[...lines, short, end].join('\n')}\nx`, '<key>\nx'],
  ['cut at the start, with other text before it', `head: 1\n${[...lines, end].join('\n')}`, 'head: 1\n<key>'],
  [
    'cut at the start, numbered',
    [...lines, short, end].map((line, index) => `${index + 7}\t${line}`).join('\n'),
    '<key>',
  ],
  ['cut in JSON', JSON.stringify([...lines, short, end].join('\n')), '<key>"'],
])('a private key %s', (_, text, redacted) => {
  expect(redact(text)).toBe(redacted);
});

test.each([
  ['a public key', key.replaceAll('PRIVATE', 'PUBLIC')],
  ['a certificate', key.replaceAll('RSA PRIVATE KEY', 'CERTIFICATE')],
  ['the marks alone', `${begin}\n`],
  ['the marks in a program', `const begin = '${begin}';\nconst end = '${end}';`],
  ['the marks in a call', `text.split("${begin}").join("${end}")`],
  ['a sentence', `A key starts with ${begin} and goes on.`],
  ['words', 'THE PRIVATE KEY----- IS HERE'],
  ['text before an end', `some text\nmore text\n${end}`],
])('%s is not a private key', (_, text) => {
  expect(redact(text)).toBe(text);
});
