import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NetworkPolicy } from './network-policy.ts';

const read = (domains: string[], cidrs: string[] = []) => NetworkPolicy.parse({ mode: 'restricted', domains, cidrs });
const problemOf = (policy: unknown) => NetworkPolicy.safeParse(policy).error?.issues[0]?.message;

test.each([
  ['EXAMPLE.com', 'example.com'],
  ['example.com.', 'example.com'],
  ['Bücher.example', 'xn--bcher-kva.example'],
  ['*.Example.COM', '*.example.com'],
  ['*.bücher.example.', '*.xn--bcher-kva.example'],
  ['example.com:8443', 'example.com:8443'],
  ['*.example.com:8443', '*.example.com:8443'],
  ['registry', 'registry'],
])('the domain %s is stored as %s', (written, kept) => {
  expect(read([written])).toEqual({ mode: 'restricted', domains: [kept], cidrs: [] });
  expect(read([kept])).toEqual(read([written]));
});

test.each([
  ['10.1.2.3', '10.1.2.3/32'],
  ['10.1.2.3/8', '10.0.0.0/8'],
  ['FD00:0::/8', 'fd00::/8'],
  ['::1', '::1/128'],
  ['127.0.0.1/32:11434', '127.0.0.1/32:11434'],
  ['fd00::/8:5000', 'fd00::/8:5000'],
])('the cidr %s is stored as %s', (written, kept) => {
  expect(read([], [written])).toEqual({ mode: 'restricted', domains: [], cidrs: [kept] });
  expect(read([], [kept])).toEqual(read([], [written]));
});

describe('refuses, with advice,', () => {
  test.each([
    ['*', 'every domain'],
    ['**', 'every domain'],
    ['*.', 'every domain'],
    ['*.*', 'every domain'],
    ['*.com', 'a whole top-level domain'],
    ['*.com.', 'a whole top-level domain'],
    ['.example.com', 'write *.example.com'],
    ['https://example.com', 'the host alone'],
    ['example.com/path', 'the host alone'],
    ['user@example.com', 'the host alone'],
    ['10.0.0.1', 'among the cidrs'],
    ['10.0.0.0/8', 'among the cidrs'],
    ['[::1]', 'among the cidrs'],
    ['[::1]:443', 'among the cidrs'],
    ['*.10.0.0.1', 'among the cidrs'],
    ['0177.0.0.1', 'is not a domain'],
    ['2130706433', 'is not a domain'],
    ['a.*.com', 'is not a domain'],
    ['*example.com', 'is not a domain'],
    ['*.*.example.com', 'is not a domain'],
    ['**.example.com', 'is not a domain'],
    ['exa mple.com', 'is not a domain'],
    ['exa%6dple.com', 'is not a domain'],
    ['example.com:0', 'is not a domain'],
    ['example.com:', 'is not a domain'],
    ['example.com:65536', 'above 65535'],
    ['', 'is not a domain'],
  ])('domain %j', (written, words) => {
    expect(problemOf({ mode: 'restricted', domains: ['good.example', written] })).toContain(words);
  });

  test.each(['example.com', '10.0.0.0/33', '0177.0.0.1', '*', '', '10.0.0.1:80', '10.0.0.0/8:0', '10.0.0.0/8:70000'])(
    'cidr %j',
    (written) => {
      expect(problemOf({ mode: 'restricted', cidrs: [written] })).toContain('is not a CIDR such as');
    },
  );

  test('more than 1000 entries', () => {
    expect(problemOf({ mode: 'restricted', domains: Array(1001).fill('example.com') })).toContain('1000');
  });

  test('lists that the mode does not take, unknown modes and unknown fields', () => {
    expect(problemOf({ mode: 'deny-all', domains: ['example.com'] })).toContain('domains');
    expect(problemOf({ mode: 'allow-all', cidrs: [] })).toContain('cidrs');
    expect(problemOf({ mode: 'restricted', allow: ['example.com'] })).toContain('allow');
    expect(problemOf({ mode: 'open' })).toBeDefined();
    expect(problemOf({})).toBeDefined();
  });
});

test('omitted lists are empty', () => {
  expect(NetworkPolicy.parse({ mode: 'restricted' })).toEqual({ mode: 'restricted', domains: [], cidrs: [] });
});

test('any text is refused, or normalised to a form that stays the same when normalised again', () => {
  const piece = fc.constantFrom(
    'a',
    'B',
    '*',
    '.',
    ':',
    '1',
    '/',
    '[',
    ']',
    'ü',
    '%',
    '@',
    ' ',
    '10.0.0.0',
    '::',
    '443',
  );
  const text = fc.oneof(
    fc.array(piece).map((parts) => parts.join('')),
    fc.string({ unit: 'binary' }),
  );
  fc.assert(
    fc.property(text, fc.constantFrom('domains', 'cidrs'), (entry, list) => {
      const once = NetworkPolicy.safeParse({ mode: 'restricted', [list]: [entry] });
      if (once.success) expect(NetworkPolicy.parse(once.data)).toEqual(once.data);
    }),
    { numRuns: 3000 },
  );
});
