import { createContext, Script } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expectCheap } from '../../../../test/support/expect-cheap.ts';
import { compileLinearPattern } from './linear-pattern.ts';

describe('matches', () => {
  test.each([
    ['', ''],
    ['', 'anything'],
    ['rror', 'Error: x'],
    ['^Error:', 'Error: x'],
    ['^Fatal:|^panic:', 'panic: x'],
    ['\\buncaught\\b', 'an uncaught thing'],
    ['a$', 'ba'],
    ['^$', ''],
    ['a.c', 'xabcx'],
    ['a.c', 'a😀c'],
    ['[^a]', '😀'],
    ['[😀-😂]', '😁'],
    ['\\d+ms', 'took 12ms'],
    ['\\s\\S\\w\\W\\D', ' a_-x'],
    ['[a-c\\d_-]', '-'],
    ['[\\]\\\\]', ']'],
    ['[a-]', '-'],
    ['[-a]', '-'],
    ['[.]', '.'],
    ['[a^]', '^'],
    ['[\\w.]+@', 'a.b@c'],
    ['a{2}', 'baab'],
    ['a{2,}', 'aaaa'],
    ['^a{1,3}$', 'aaa'],
    ['a{0}b', 'b'],
    ['a{,3}', 'a{,3}'],
    ['a{', 'a{'],
    ['{a}', '{a}'],
    ['x{y', 'x{y'],
    ['a]b}', 'a]b}'],
    ['(a|b)*c', 'ababc'],
    ['(?:ab)+c', 'ababc'],
    ['(a|)b', 'b'],
    ['()', ''],
    ['a+?b*?c??', 'a'],
    ['(?i)error', 'ERROR'],
    ['(?i)[a-f]\\x41', 'Ca'],
    ['(?i)ERR[^O]', 'errx'],
    ['\\.\\*\\/\\-\\t', '.*/-\t'],
    ['\\x41\\x7a', 'Az'],
    ['\\Bb', 'ab'],
    ['(a*)*b', 'aab'],
    ['a|^b', 'b'],
    ['é+', 'caféé'],
  ])('%s accepts %j', (pattern, line) => {
    expect(compileLinearPattern(pattern)(line)).toBe(true);
  });

  test.each([
    ['^Error:', 'an Error: x'],
    ['\\buncaught\\b', 'uncaughtException'],
    ['a$', 'ab'],
    ['^$', 'a'],
    ['a.c', 'a\nc'],
    ['a.c', 'ac'],
    ['^a{1,3}$', 'aaaa'],
    ['a{3}', 'aa'],
    ['error', 'ERROR'],
    ['(?i)[^o]', 'oO'],
    ['[^\\d]', '123'],
    ['\\d', '٣'],
    ['b^', 'ab'],
    ['\\b', '--'],
    ['\\B', 'a'],
    ['[]', 'a'],
    ['(a*)*b', 'aaaa'],
  ])('%s refuses %j', (pattern, line) => {
    expect(compileLinearPattern(pattern)(line)).toBe(false);
  });
});

test.each([
  ['(a)\\1', '"\\1", which is not supported: a back-reference'],
  ['a(?=b)', '"(?=", which is not supported: a look-ahead'],
  ['a(?!b)', '"(?!", which is not supported: a look-ahead'],
  ['(?<=a)b', '"(?<", which is not supported: a named group or look-behind'],
  ['(?<n>a)', '"(?<", which is not supported: a named group or look-behind'],
  ['(?P<n>a)', '"(?P", which is not supported: a named group or look-behind'],
  ['a(?i)b', '"(?i", which is not supported'],
  ['(?', '"(?", which is not supported'],
  ['\\p{L}', '"\\p", which is not supported'],
  ['\\k<n>', '"\\k", which is not supported'],
  ['\\u0041', '"\\u", which is not supported'],
  ['\\xg1', '"\\x", which is not supported'],
  ['[[:alpha:]]', 'a named class'],
  ['(a', '"(" without ")"'],
  ['a)', '")" without "("'],
  ['[a', '"[" without "]"'],
  ['[a-', '"[" without "]"'],
  ['[z-a]', 'wrong order'],
  ['[\\d-z]', 'range between classes'],
  ['*a', 'nothing before "*"'],
  ['a|+', 'nothing before "+"'],
  ['a**', 'quantifier after a quantifier'],
  ['a{2}{3}', 'quantifier after a quantifier'],
  ['^*', 'repeats an anchor'],
  ['\\b+', 'repeats an anchor'],
  ['a{3,2}', 'repetition in the wrong order'],
  ['a{101}', 'more than 100 times'],
  ['a{1,101}', 'more than 100 times'],
  ['a{999999999}', 'more than 100 times'],
  ['(a{100}){100}', 'too large'],
  ['((((a{99}){99}){99}){99}){99}', 'too large'],
  ['a\\', 'ends with "\\"'],
  ['a'.repeat(1001), 'longer than 1000'],
])('refuses %s with its problem', (pattern, reason) => {
  expect(() => compileLinearPattern(pattern)).toThrow(RangeError);
  expect(() => compileLinearPattern(pattern)).toThrow(reason);
});

const atom = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '[a-b_]', '\\d', '\\w', '\\s', '\\W', 'é', '1', ' ', '-');
const anchor = fc.constantFrom('^', '$', '\\b', '\\B');
const quantifier = fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{0,2}', '{1,}', '*?', '+?', '??');
const { pattern } = fc.letrec<{ pattern: string; sequence: string; piece: string }>((tie) => ({
  pattern: fc.array(tie('sequence'), { minLength: 1, maxLength: 2 }).map((parts) => parts.join('|')),
  sequence: fc.array(tie('piece'), { maxLength: 3 }).map((parts) => parts.join('')),
  piece: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.tuple(atom, quantifier).map((parts) => parts.join('')),
    anchor,
    fc
      .tuple(fc.constantFrom('(', '(?:'), tie('pattern'), quantifier)
      .map(([open, inner, many]) => `${open}${inner})${many}`),
  ),
}));
/** Skips patterns with too many repetitions, which are refused as tested above. */
function compileSmall(source: string) {
  try {
    return compileLinearPattern(source);
  } catch (thrown) {
    fc.pre(!String(thrown).includes('too large'));
    throw thrown;
  }
}

const oracle = createContext({ source: '', flags: '', text: '' });
const ask = new Script('new RegExp(source, flags).test(text)');

/** Returns the answer of RegExp, unless its backtracking would take for ever. */
function askRegExp(source: string, flags: string, text: string): boolean {
  Object.assign(oracle, { source, flags, text });
  try {
    return ask.runInContext(oracle, { timeout: 200 });
  } catch (thrown) {
    fc.pre(!String(thrown).includes('timed out'));
    throw thrown;
  }
}

const line = fc.string({ unit: fc.constantFrom('a', 'b', 'A', '_', ' ', '1', '-', 'é'), maxLength: 12 });

test('agrees with RegExp', () => {
  fc.assert(
    fc.property(pattern, fc.array(line, { minLength: 1, maxLength: 5 }), (source, lines) => {
      const matches = compileSmall(source);
      for (const text of lines) expect(matches(text)).toBe(askRegExp(source, 'u', text));
    }),
    { numRuns: 5000 },
  );
});

test('agrees with RegExp without regard to case', () => {
  fc.assert(
    fc.property(pattern, line, (source, text) => {
      expect(compileSmall(`(?i)${source}`)(text)).toBe(askRegExp(source, 'iu', text));
    }),
    { numRuns: 2000 },
  );
});

test('any text compiles or is refused with a RangeError', () => {
  const unit = fc.constantFrom(...'ab()[]{}|*+?.^$\\-,:<=!dwsbx1'.split(''), '(?', '{1,2}');
  fc.assert(
    fc.property(fc.string({ unit }), line, (source, text) => {
      try {
        expect(typeof compileLinearPattern(source)(text)).toBe('boolean');
      } catch (thrown) {
        expect(String(thrown)).toMatch(/^RangeError: The pattern /);
      }
    }),
    { numRuns: 3000 },
  );
});

const megabyte = 1024 * 1024;
const letters = Array.from({ length: megabyte }, (_, index) => (((index * index * 7919) % 10007) % 2 ? 'a' : 'b')).join(
  '',
);

test.each([
  ['(a*)*b', 'a'.repeat(megabyte)],
  ['(a+)+$', `${'a'.repeat(megabyte)}!`],
  ['(a|a)*b', 'a'.repeat(megabyte)],
  ['(a|aa)+$', `${'a'.repeat(megabyte)}!`],
  ['(.*)(.*)(.*)(.*)x', 'a'.repeat(megabyte)],
  ['(a?){99}b', 'a'.repeat(megabyte)],
  ['((a{0,3}){0,5}){0,4}b', 'a'.repeat(megabyte)],
  ['\\b(\\w+\\s?)*$', `${'a '.repeat(megabyte / 2)}!`],
  ['(a|b)*a(a|b){8}c', letters],
  ['[^é]x', '€'.repeat(megabyte)],
])('%s takes little time for a megabyte', async (source, text) => {
  await expectCheap(() => compileLinearPattern(source)(text), 60);
});

test.each(['(a|b)*a(a|b){30}c', '(a|b)*a(a|b){90}c', '(.?a?b?){30}c'])(
  '%s, with too many states to store',
  async (source) => {
    const matches = compileLinearPattern(source);
    const random = fc.sample(
      fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 64 * 1024, maxLength: 64 * 1024, size: 'max' }),
      1,
    );
    await expectCheap(() => matches(random[0] ?? ''), 60);
  },
);
