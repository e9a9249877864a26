import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatAuthority, parseAbsoluteTarget, parseAuthority } from './proxy-target.ts';

test.each([
  ['example.com:443', { host: 'example.com', port: 443 }],
  ['EXAMPLE.com.:8443', { host: 'example.com', port: 8443 }],
  ['1.2.3.4:443', { host: '1.2.3.4', port: 443 }],
  ['[::1]:443', { host: '::1', port: 443 }],
  ['[::FFFF:1.2.3.4]:443', { host: '1.2.3.4', port: 443 }],
])('CONNECT %s', (text, target) => {
  expect(parseAuthority(text)).toEqual(target);
});

test.each([
  ...[
    'example.com',
    'example.com:',
    ':443',
    'example.com:0',
    'example.com:65536',
    'example.com:044',
    'example.com:443:443',
  ],
  ...[
    'user@example.com:443',
    'http://example.com:443',
    'example.com:443/',
    'example.com :443',
    '::1:443',
    '[::1]',
    '[::1',
  ],
  ...[
    '[::1]443',
    '[::1]x:443',
    'x[::1]:443',
    '[1.2.3.4]:443',
    '[a.com]:443',
    '[fe80::1%25lo]:443',
    '0x7f.1:443',
    '',
    '/',
  ],
])('CONNECT %j is refused', (text) => {
  expect(parseAuthority(text)).toBeUndefined();
});

test.each([
  ['http://example.com', { host: 'example.com', port: 80, path: '/' }],
  ['HTTP://Example.com/A?b=c', { host: 'example.com', port: 80, path: '/A?b=c' }],
  ['http://example.com?b', { host: 'example.com', port: 80, path: '/?b' }],
  ['http://example.com:8080//a/../b%2f..', { host: 'example.com', port: 8080, path: '//a/../b%2f..' }],
  ['http://[::1]:8080/', { host: '::1', port: 8080, path: '/' }],
  ['http://example.com/@evil.org:80/', { host: 'example.com', port: 80, path: '/@evil.org:80/' }],
])('GET %s', (text, target) => {
  expect(parseAbsoluteTarget(text)).toEqual(target);
});

describe('a URL that two parsers could read differently is refused', () => {
  test.each([
    ...[
      '/',
      '*',
      '',
      '//example.com/',
      'example.com/',
      'https://example.com/',
      'ftp://example.com/',
      'http:/example.com/',
    ],
    ...['http:example.com', 'http://', 'http:///path', 'http://user@example.com/', 'http://user:pw@example.com/'],
    ...['http://good.example\\@evil.org/', 'http://good.example#@evil.org/', 'http://example.com/#x', 'http://a b/'],
    ...[
      'http://example.com:80:80/',
      'http://example.com:/',
      'http://2130706433/',
      'http://0177.0.0.1/',
      'http://127.1/',
    ],
    ...[
      'http://[127.0.0.1]/',
      'http://[::1]@evil.org/',
      'http://exa%6dple.com/',
      'http://example.com\t/',
      'http://é.com/',
    ],
  ])('%j', (text) => {
    expect(parseAbsoluteTarget(text)).toBeUndefined();
  });
});

test('an accepted URL is read as the URL standard says', () => {
  const piece = fc.constantFrom(
    'http://',
    'a.com',
    '@',
    ':',
    '80',
    '/',
    '\\',
    '?',
    '#',
    '[',
    ']',
    '::1',
    '127.0.0.1',
    '%',
    '.',
    '0x7f',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (parts) => {
      const text = `http://${parts.join('')}`;
      const target = parseAbsoluteTarget(text);
      fc.pre(target !== undefined);
      const url = new URL(text);
      expect(`${url.hostname.replace(/\.$/, '')}:${url.port || 80}`).toBe(
        `${formatAuthority({ ...target!, port: 0 }, 0)}:${target!.port}`,
      );
      expect(url.username).toBe('');
    }),
    { numRuns: 5000 },
  );
});
