import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expectCheap } from '../../../test/support/expect-cheap.ts';
import { stripControlSequences } from '../text/strip-control-sequences.ts';
import { createSecretMarker } from './redact.ts';
import { createByteRedactionStream } from './redact-bytes.ts';

const secrets: [string, string][] = [
  ['plain', 'correct horse battery'],
  ['random', 'q8Zt3vK1pX7mB4nW9sL2dF6g'],
  ['foreign', 'Schlüssel €𝄞 für alle'],
  ['lines', 'first line of it\nsecond line of it\nthird-9xKq27Lm3Vb81'],
];
const marker = createSecretMarker(secrets);

function redact(bytes: Buffer, cuts: readonly number[] = []) {
  const { push, end } = createByteRedactionStream(() => marker.finder);
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  const pieces = [...ends, bytes.length].map((to, index) => bytes.subarray(ends[index - 1] ?? 0, to));
  const redacted = [...pieces.map(push), end()];
  return { bytes: Buffer.concat(redacted.map((one) => one.bytes)), names: redacted.flatMap((one) => one.names) };
}

const cuts = fc.array(fc.nat(3000), { maxLength: 40 });
const colour = fc.constantFrom('\x1b[31m', '\x1b[m', '\x1b[0;1;38;2;1;2;3m', '\x1b[2K', '');
const pieceOfBytes = fc.oneof(
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  fc
    .constantFrom('\r', '\r\n', '\x1b', '\x1b[', '\x1b[31', '\x1b]0;', '\xc3', 'ä', '€', '𝄞', 'a=b\n', '\0'.repeat(90))
    .map((text) => Buffer.from(text, text === '\xc3' ? 'latin1' : 'utf8')),
  colour.map((text) => Buffer.from(text.repeat(300))),
);

test('bytes without secrets arrive as they are, however they are cut', () => {
  fc.assert(
    fc.property(fc.array(pieceOfBytes, { maxLength: 12 }), cuts, (pieces, at) => {
      const bytes = Buffer.concat(pieces);
      fc.pre(marker.redact(bytes.toString('latin1')) === bytes.toString('latin1'));
      const redacted = redact(bytes, at);
      expect(redacted.bytes.equals(bytes)).toBe(true);
      expect(redacted.names).toEqual([]);
    }),
    { numRuns: 2000 },
  );
});

const words = fc.array(
  fc.oneof(
    fc.constantFrom(
      ...secrets.map(([, value]) => value),
      'DB_PASSWORD=s3cr3tValue99',
      'ghp_0123456789abcdefghijABCDEFGHIJ0123456789',
    ),
    fc.constantFrom('\n', ' ', 'ok', 'ä', 'password: ', '-----BEGIN PRIVATE KEY-----\n'),
  ),
  { maxLength: 16 },
);

test('text is redacted as the whole text is', () => {
  fc.assert(
    fc.property(words, cuts, (parts, at) => {
      const text = parts.join('');
      expect(redact(Buffer.from(text), at).bytes.toString()).toBe(marker.redact(text));
    }),
    { numRuns: 2000 },
  );
});

test('a secret with colours in it is not shown', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...secrets),
      fc.array(colour, { minLength: 30, maxLength: 60 }),
      cuts,
      ([name, value], colours, at) => {
        const text = [...value].map((char, index) => (colours[index % colours.length] ?? '') + char).join('');
        const { bytes, names } = redact(Buffer.from(`before ${text}\x1b[m after\n`), at);
        expect(stripControlSequences(bytes.toString())).toBe(`before [REDACTED:${name}] after\n`);
        expect(bytes.toString()).toContain(']\x1b[m after');
        expect(names).toEqual([name]);
      },
    ),
    { numRuns: 500 },
  );
});

test.each([
  ['in the title of a terminal', (value: string) => `\x1b]0;${value}\x07`],
  ['in a file of zeros', (value: string) => `${'\0'.repeat(200_000)}${value}${'\0'.repeat(200_000)}`],
  ['between bytes that are no UTF-8', (value: string) => `\xff\xfe${value}\xff`],
  ['with other line ends', (value: string) => value.replaceAll('\n', '\r\n')],
])('a secret is found %s', (_, around) => {
  for (const [name, value] of secrets.filter(([each]) => each !== 'foreign')) {
    const { bytes, names } = redact(Buffer.from(around(value), 'latin1'), [1, 70_000, 200_004]);
    expect(names).toEqual([name]);
    expect(bytes.includes(value.slice(0, 12))).toBe(false);
  }
});

test('many bytes take time in proportion', async () => {
  const random = Buffer.from(Uint8Array.from({ length: 300_000 }, (_, at) => (at * 2_654_435_761) >>> 13));
  const bytes = Buffer.concat([random, Buffer.alloc(300_000), Buffer.from('a plain line\n'.repeat(30_000))]);
  const at = Array.from({ length: 15 }, (_, index) => index * 65_536);
  await expectCheap(() => redact(bytes, at), 60);
});
