import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { explain } from '../../../../test/support/denials-fixture.ts';
import { expectCheap } from '../../../../test/support/expect-cheap.ts';

const clues = [
  'Read-only file system',
  'Device or resource busy',
  'Permission denied',
  'No such file or directory',
  'Could not resolve host: ',
  'Network is unreachable',
  'EAI_AGAIN ',
  'ENETUNREACH',
  'Too many open files',
  'No space left on device',
  'File too large',
  '.git/config',
  '/dev/tcp/',
  'https://',
  '/usr/x',
  '/root/y',
  "'",
  '‘',
  '`',
  '"',
  ': ',
  '/',
  '..',
  '@',
  ':',
  ' ',
  '\n',
  '\r',
  '\0',
  '\x1b[',
  'İ',
  '😀',
  'a',
];
const nasty = fc
  .array(fc.oneof(fc.constantFrom(...clues), fc.string({ unit: 'binary', maxLength: 20 })), { maxLength: 60 })
  .map((parts) => parts.join(''));
const ends = fc.record({
  code: fc.oneof(fc.integer({ min: 1, max: 255 }), fc.constant(null)),
  signal: fc.constantFrom(null, 'SIGKILL', 'SIGXFSZ'),
});

test('any output gives a few plain denials, each once', () => {
  fc.assert(
    fc.property(nasty, ends, fc.constantFrom('deny-all', 'restricted', 'allow-all'), (output, exit, network) => {
      const denials = explain(output, { exit, network });
      expect(denials.length).toBeLessThanOrEqual(5);
      const keys = denials.map(({ layer, rule, target }) => [layer, rule, target].join('\0'));
      expect(new Set(keys).size).toBe(keys.length);
      for (const { target, next } of denials) {
        expect(target.length).toBeLessThanOrEqual(200);
        expect(target).not.toBe('');
        // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there.
        expect(target + next).not.toMatch(/[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/);
      }
    }),
    { numRuns: 1000 },
  );
});

test('no output of a successful command gives a denial', () => {
  fc.assert(
    fc.property(nasty, (output) => {
      expect(explain(output, { exit: { code: 0, signal: null } })).toEqual([]);
    }),
  );
});

describe('100 kB of output take little time', () => {
  const lines = (part: string, end = '\n') => `${part}${end}`.repeat(Math.ceil(100_000 / (part.length + end.length)));
  const long = (part: string, end: string) => lines(part.repeat(Math.ceil(4900 / part.length)) + end);
  test.each([
    ['lines that tell of nothing', lines('cat: x: No such file or directory')],
    ['empty lines', '\n'.repeat(100_000)],
    ['one line', 'No such file or directory '.repeat(4000)],
    ['quotes that nobody closes', long('‘', ' No such file or directory')],
    ['many kinds of quotes', long('\'"`‘', ' No such file or directory')],
    ['quotes in pairs', long("'a' ", ': No such file or directory')],
    ['colons', long(': ', 'No such file or directory')],
    ['slashes', long('/', ': No such file or directory')],
    ['climbing', long('../', ': Permission denied')],
    ['words', long('./a ', ': Permission denied')],
    ['dots', long('a.', ': Temporary failure in name resolution').replaceAll('failure in name', 'failures in name')],
    ['names of hosts', long(' a.b', ': Temporary failure in name resolution')],
    ['addresses', long('https://a', '@ connect to localhost Network is unreachable')],
    ['hosts of our own', lines('connect to localhost Network is unreachable')],
    ['spaces', long(' ', 'No such file or directory')],
    ['beginnings of words', lines('Read-only file syste Could not resolv EAI_AGAI', '')],
  ])('%s', async (_, output) => {
    expect(output.length).toBeGreaterThanOrEqual(95_000);
    await expectCheap(() => explain(output), 10);
  });
});
