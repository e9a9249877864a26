import { matchesGlob } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expectCheap } from '../../../../test/support/expect-cheap.ts';
import { compileGlob } from './glob.ts';

const anyChar = fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code).toWellFormed());

describe('matches', () => {
  test.each([
    ['a/b.ts', 'a/b.ts'],
    ['*.ts', 'a.ts'],
    ['*.ts', 'deep/down/a.ts'],
    ['*.ts', '.ts'],
    ['*', '.env'],
    ['name', 'any/depth/name'],
    ['/a.ts', 'a.ts'],
    ['./src/*.ts', 'src/a.ts'],
    ['src//./a.ts', 'src/a.ts'],
    ['a?c', 'abc'],
    ['?', '😀'],
    ['[😀-😂]', '😁'],
    ['[abc]', 'b'],
    ['[a-cx]', 'x'],
    ['[!a]', 'b'],
    ['[^a]', 'b'],
    ['[]a]', ']'],
    ['[!]a]', 'b'],
    ['[a-]', '-'],
    ['[a\\]]', ']'],
    ['[\\!a]', '!'],
    ['[{,}]', ','],
    ['{a,b}.ts', 'b.ts'],
    ['{a,b{c,d}}', 'bd'],
    ['{a,}b', 'b'],
    ['{src/*,test}.ts', 'src/a.ts'],
    ['{src/*,test}.ts', 'deep/test.ts'],
    ['{[a,b],c}', ','],
    ['{1..3}', '2'],
    ['{3..1}', '1'],
    ['{-1..1}', '-1'],
    ['{a}', '{a}'],
    ['{}', '{}'],
    ['{a{b,c}}', '{ac}'],
    ['a}b,c', 'a}b,c'],
    ['\\*', '*'],
    ['\\{a,b}', '{a,b}'],
    ['a\\/b', 'a/b'],
    ['a/**\\/b', 'a/x/y/b'],
    ['a\\', 'a\\'],
    ['**', 'a/b/.c'],
    ['**/a', 'a'],
    ['**/a', 'x/y/a'],
    ['a/**/b', 'a/b'],
    ['a/**/b', 'a/x/y/b'],
    ['a/**', 'a/b/c'],
    ['**/a/**/b/*.ts', 'x/a/b/b/c.ts'],
    ['**/a/b', 'a/a/b'],
    ['src/', 'src/deep/a.ts'],
    ['/', 'a/b'],
    ['a**b', 'axxb'],
    ['src/**.ts', 'src/a.ts'],
    ['*a*b', 'xaab'],
    ['!*.ts', 'a.js'],
    ['\\!a', '!a'],
    ['src/**/*.ts', 'src/a.ts'],
    ['', ''],
  ])('%s accepts %s', (pattern, path) => {
    expect(compileGlob(pattern)(path)).toBe(true);
  });

  test.each([
    ['*.ts', 'a.tsx'],
    ['a/*', 'a/b/c'],
    ['/a.ts', 'deep/a.ts'],
    ['./*.ts', 'deep/a.ts'],
    ['src/*.ts', 'x/src/a.ts'],
    ['a?c', 'a/c'],
    ['a?c', 'ac'],
    ['*??', '😀'],
    ['*[!😀]', '😀'],
    ['[!a]', 'a'],
    ['[^a-c]', 'b'],
    ['[z-a]', 'm'],
    ['a[!x]b', 'a/b'],
    ['{a,b}', 'c'],
    ['{1..3}', '4'],
    ['{1..3}', '1..3'],
    ['{a}', 'a'],
    ['\\*', 'a'],
    ['**/a', 'ba'],
    ['a/**/b', 'a/xb'],
    ['a/**/a/b', 'a/b'],
    ['a/**', 'a'],
    ['a/**', 'ab/c'],
    ['src/', 'src'],
    ['src/', 'x/src/a'],
    ['a**b', 'a/b'],
    ['src/**/*.ts', 'src.ts'],
    ['src/**/src/*.ts', 'src/a.ts'],
    ['*a*b', 'xaba'],
    ['!*.ts', 'deep/a.ts'],
    ['A', 'a'],
  ])('%s refuses %s', (pattern, path) => {
    expect(compileGlob(pattern)(path)).toBe(false);
  });
});

test.each([
  ['[a', 'unclosed "["'],
  ['[]', 'unclosed "["'],
  ['[!]', 'unclosed "["'],
  ['[a/b]', 'unclosed "["'],
  ['[a\\]', 'unclosed "["'],
  ['{a,[b}', 'unclosed "["'],
  ['{a,b', 'unclosed "{"'],
  ['{a,{b}', 'unclosed "{"'],
  ['{1..1001}', '1000 alternatives'],
  ['{1..999999999999999}', '1000 alternatives'],
  ['{a,b}'.repeat(10), '1000 alternatives'],
  [`{${','.repeat(1000)}}`, '1000 alternatives'],
  ['a'.repeat(4097), 'longer than 4096 characters'],
  [`{1..500}${'a'.repeat(200)}`, 'longer than 65536 characters with its braces expanded'],
])('a malformed pattern is refused with its problem: %s', (pattern, problem) => {
  expect(() => compileGlob(pattern)).toThrow(RangeError);
  expect(() => compileGlob(pattern)).toThrow(problem);
});

const name = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 4 });
const path = fc.array(name, { minLength: 1, maxLength: 5 }).map((names) => names.join('/'));
const piece = fc.constantFrom('a', 'b', 'c', '*', '?', '[ab]', '[!a]', '[b-c]', '{a,b}', '{a,b{c,a*}}', '{ab,?}');
const wildName = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(''));

test('agrees with node:path on the syntax that they share', () => {
  const segment = fc.oneof({ weight: 2, arbitrary: wildName }, { weight: 1, arbitrary: fc.constant('**') });
  const pattern = fc.array(segment, { minLength: 2, maxLength: 5 }).map((segments) => segments.join('/'));
  fc.assert(
    fc.property(pattern, path, (glob, subject) => {
      fc.pre(glob.split('{').length < 7);
      expect(compileGlob(glob)(subject)).toBe(matchesGlob(subject, glob));
    }),
    { numRuns: 1500 },
  );
});

test('a pattern without a slash is the same at any depth', () => {
  fc.assert(
    fc.property(wildName, path, (glob, subject) => {
      expect(compileGlob(glob)(subject)).toBe(compileGlob(`**/${glob}`)(subject));
    }),
  );
});

test('an escaped path matches itself and no other path', () => {
  const anyName = fc.string({ unit: anyChar, minLength: 1 }).map((text) => text.replaceAll('/', '|'));
  const anyPath = fc
    .array(
      anyName.filter((text) => text !== '.'),
      { minLength: 1, maxLength: 4 },
    )
    .map((names) => `x/${names.join('/')}`);
  fc.assert(
    fc.property(anyPath, anyPath, (subject, other) => {
      const matches = compileGlob(subject.replace(/[^/]/gu, '\\$&'));
      expect(matches(subject)).toBe(true);
      expect(matches(other)).toBe(subject === other);
    }),
  );
});

test('any text either compiles or is refused with a RangeError', () => {
  const unit = fc.constantFrom('a', '/', '*', '**', '?', '[', ']', '!', '^', '-', '{', '}', ',', '\\', '1..9', '.');
  fc.assert(
    fc.property(fc.string({ unit }), path, (glob, subject) => {
      try {
        expect(typeof compileGlob(glob)(subject)).toBe('boolean');
      } catch (thrown) {
        expect(String(thrown)).toMatch(/^RangeError: The glob pattern /);
      }
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ['many **', `${'**/'.repeat(1300)}x`],
  ['many ** with names between', `${'**/a/'.repeat(800)}x`],
  ['many ** with wildcards between', `${'**/*a*/'.repeat(500)}x`],
  ['a few *', '*a*a*a*a*a*b'],
  ['many *', `${'*a'.repeat(2000)}[b]`],
  ['many ?*', `${'?*'.repeat(2000)}[b]`],
  ['a long literal after *', `*${'a'.repeat(4000)}[b]`],
  ['many alternatives with many *', `${'{a,b}'.repeat(9)}${'*a'.repeat(20)}[b]`],
  ['deep braces', `${'{'.repeat(2048)}${'}'.repeat(2048)}`],
  ['deep braces with choices', `${'{'.repeat(1300)}${',}'.repeat(1300)}`],
  ['many braces', '{x}'.repeat(1365)],
])('a hostile pattern takes little time: %s', async (_, pattern) => {
  await expectCheap(() => tryHostile(pattern), 10);
});

function tryHostile(pattern: string): void {
  try {
    const matches = compileGlob(pattern);
    for (const subject of ['a'.repeat(4000), 'a/'.repeat(2000), 'aaa/'.repeat(1000)]) matches(subject);
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(RangeError);
  }
}

test('ten thousand paths take little time', async () => {
  const paths = Array.from(
    { length: 10_000 },
    (_, index) => `packages/p${index % 50}/src/file-${index}.${index % 2 ? 'ts' : 'js'}`,
  );
  const matches = compileGlob('**/*.ts');
  expect(paths.filter(matches)).toHaveLength(5000);
  await expectCheap(() => paths.filter(matches), 2);
});
