import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalHost, isAddress } from './host-name.ts';

test.each([
  ['EXAMPLE.com', 'example.com'],
  ['example.com.', 'example.com'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['XN--BCHER-KVA.example', 'xn--bcher-kva.example'],
  ['example。com', 'example.com'],
  ['localhost', 'localhost'],
  ['my_host.internal', 'my_host.internal'],
  ['3com.com', '3com.com'],
  ['1.2.3.4', '1.2.3.4'],
  ['::1', '::1'],
  ['[::1]', '::1'],
  ['[0:0:0:0:0:0:0:1]', '::1'],
  ['[2A00::0001]', '2a00::1'],
  ['::ffff:127.0.0.1', '127.0.0.1'],
  ['[::127.0.0.1]', '::7f00:1'],
])('%s is %s', (text, host) => {
  expect(canonicalHost(text)).toBe(host);
});

test.each([
  ...['0177.0.0.1', '0x7f.0.0.1', '0x7f000001', '2130706433', '017700000001', '127.1', '127.0.1', '127.0.0.1.'],
  ...['１２７.0.0.1', '127。0。0。1x.0', '1.2.3.4.5', '256.256.256.256', 'example.0x1', 'a.1', '1.2.3.08'],
  ...[
    '[127.0.0.1]',
    '[example.com]',
    '[::1',
    '::1]',
    '[[::1]]',
    '[::1]:80',
    '[::1%lo]',
    'fe80::1%lo',
    '[]',
    '[::1].com',
  ],
  ...['', '.', '..', 'a..b', '.a', '-a.com', 'a-.com', 'a b', 'a\tb', 'a\nb', 'a\0b', ' a', 'a ', 'user@host', 'a:80'],
  ...['a/b', 'a\\b', 'a?b', 'a#b', 'a%2eb', 'exa%6dple.com', '*', '*.example.com', 'a.*.b', 'exa\u{200e}\u{0}mple.com'],
  ...[`${'a'.repeat(64)}.com`, `${'a.'.repeat(130)}com`, 'a'.repeat(10_000), '"a"', "a'b", '<a>', 'a|b', 'a^b'],
])('%j is not a host name', (text) => {
  expect(canonicalHost(text)).toBeUndefined();
});

test('a canonical name stays the same, and no number is a name', () => {
  const piece = fc.constantFrom(
    'a',
    'B',
    '1',
    '0x',
    '127',
    '.',
    '..',
    '-',
    '_',
    '[',
    ']',
    ':',
    '::',
    '%',
    'ü',
    '１',
    '。',
    '@',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(piece).map((parts) => parts.join('')),
        fc.domain(),
        fc.string(),
      ),
      (text) => {
        const host = canonicalHost(text);
        fc.pre(host !== undefined);
        expect(canonicalHost(host!)).toBe(host);
        expect(host).toMatch(/^[a-z0-9._:-]+$/);
        // Every URL parser gives the same canonical host.
        const authority = host!.includes(':') ? `[${host}]` : host;
        expect(new URL(`http://${authority}/`).hostname).toBe(authority);
        expect(isAddress(host!)).toBe(/^[\d.]+$|:/.test(host!));
      },
    ),
    { numRuns: 5000 },
  );
});

test('a number that inet_aton reads as an address is refused unless it is written in full', () => {
  const radix = fc.constantFrom(
    (part: number) => String(part),
    (part: number) => `0${part.toString(8)}`,
    (part: number) => `0x${part.toString(16)}`,
  );
  fc.assert(
    fc.property(
      fc.nat(0xffffffff),
      fc.constantFrom(1, 2, 3, 4),
      fc.array(radix, { minLength: 4, maxLength: 4 }),
      (number, count, write) => {
        const lead = Array.from({ length: count - 1 }, (_, index) => (number >>> (24 - 8 * index)) & 0xff);
        const rest = number % 2 ** (8 * (5 - count));
        const text = [...lead, rest].map((part, index) => write[index]!(part)).join('.');
        fc.pre(!/^\d+\.\d+\.\d+\.\d+$/.test(text) || /(^|\.)0\d/.test(text));
        expect(canonicalHost(text)).toBeUndefined();
      },
    ),
    { numRuns: 2000 },
  );
});
