import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  isIgnored,
  maxRuleBytes,
  maxRuleWork,
  nestRules,
  parseIgnoreRules,
} from '../../src/core/content/ignore/gitignore.ts';
import { compileGlob } from '../../src/lib/text/patterns/glob.ts';
import { expectCheap } from '../support/expect-cheap.ts';
import { makeDirectory } from '../support/harness.ts';

/** Patterns that a workspace or a model writes, against what they mean to git and against what they may cost. */

const env = {
  PATH: process.env.PATH,
  HOME: '/nonexistent',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
};
const name = fc.constantFrom('a', 'b', 'ab', 'a.o', 'aXb', 'x y', '1', 'a]');
const path = fc.array(name, { minLength: 1, maxLength: 5 }).map((names) => names.join('/'));
const piece = fc.constantFrom(
  ...['a', 'b', '.o', '*', '**', '?', '[ab]', '[!a]', '[[:alpha:]]', '\\a', 'X', '[a-c]', ']'],
);
const segment = fc.oneof(
  { weight: 3, arbitrary: fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join('')) },
  { weight: 1, arbitrary: fc.constant('**') },
);
const rule = fc
  .tuple(
    fc.constantFrom('', '', '!', '/', '**/', '!/', '**/**/'),
    fc.array(segment, { minLength: 1, maxLength: 5 }),
    fc.constantFrom('', '', '/', '/**', '/*', '/**/*'),
  )
  .map(([start, segments, end]) => start + segments.join('/') + end);

test('rules apply as in git check-ignore', () => {
  using repository = makeDirectory();
  execFileSync('git', ['-C', repository.path, 'init', '-q'], { env });
  const ask = (rules: string, paths: readonly string[]) => {
    execFileSync('sh', ['-c', 'cat > .gitignore'], { cwd: repository.path, input: rules });
    const args = ['check-ignore', '--no-index', '-v', '-n', '-z', '--stdin'];
    const answer = execFileSync('sh', ['-c', `git ${args.join(' ')}; true`], {
      ...{ cwd: repository.path, env, input: paths.join('\0') },
    });
    const fields = answer.toString().split('\0');
    return paths.map((_, index) => {
      const pattern = fields[index * 4 + 2] ?? '';
      return pattern !== '' && !pattern.startsWith('!');
    });
  };
  const isIgnoredHere = (rules: string, asked: string) => {
    const placed = nestRules(parseIgnoreRules(rules), '', undefined);
    const names = asked.split('/');
    return names.some((_, at) => isIgnored(placed, names.slice(0, at + 1).join('/'), at + 1 < names.length));
  };
  fc.assert(
    fc.property(
      fc.array(rule, { minLength: 1, maxLength: 6 }),
      fc.array(path, { minLength: 1, maxLength: 30 }),
      (rules, paths) => {
        const text = `${rules.join('\n')}\n`;
        const unique = [...new Set(paths)];
        expect(unique.map((each) => isIgnoredHere(text, each))).toEqual(ask(text, unique));
      },
    ),
    { numRuns: 150 },
  );
});

const hostilePiece = fc.constantFrom(
  '**/',
  '*a',
  '**/a/',
  '[ab]',
  '[[:alpha:]]',
  '?',
  '*',
  'a/',
  '[!b]*',
  '\\a',
  'a**',
  '*.q\n',
);
const hostileRules = fc.array(hostilePiece, { minLength: 1, maxLength: 40 }).map((pieces) => {
  const line = `${pieces.join('')}\n`;
  return line.repeat(Math.ceil(maxRuleBytes / line.length)).slice(0, maxRuleBytes);
});
const hostilePath = fc.constantFrom(
  `${'a/'.repeat(2000)}y`,
  `${'aa/'.repeat(60)}y`,
  'a'.repeat(255),
  `${'ab'.repeat(120)}.o`,
);

test('slow rules are cut at a limit, over all directories, and a path is judged quickly', async () => {
  const samples = fc.sample(fc.tuple(hostileRules, hostilePath), 25);
  for (const [rules, asked] of samples) {
    await expectCheap(() => parseIgnoreRules(rules), 12);
    const file = parseIgnoreRules(rules);
    let placed = nestRules(file, '', undefined);
    for (let depth = 1; depth < 50; depth++) placed = nestRules(file, 'a/'.repeat(depth).slice(0, -1), placed);
    expect(placed.work).toBeLessThanOrEqual(maxRuleWork);
    await expectCheap(() => isIgnored(placed, asked, false), 6);
  }
});

test('the rules of an ordinary project are applied to the last line', () => {
  const lines = Array.from({ length: 3000 }, (_, index) => (index % 4 === 0 ? `*.e${index}` : `/build/out${index}/`));
  const rules = nestRules(parseIgnoreRules([...lines, '[Bb]in/', 'last-*-one'].join('\n')), '', undefined);
  expect(isIgnored(rules, 'build/out2999', true)).toBe(true);
  expect(isIgnored(rules, 'x.e2996', false)).toBe(true);
  expect(isIgnored(rules, 'src/Bin', true)).toBe(true);
  expect(isIgnored(rules, 'last-y-one', false)).toBe(true);
  expect(isIgnored(rules, 'last-one', false)).toBe(false);
});

test.each([
  ['*a*a*a*a*[q-s]{1..900}*', 'a'.repeat(255)],
  [`**/${'*a'.repeat(1000)}z`, 'a'.repeat(255)],
  [`{1..60}${'/**/*a*a'.repeat(100)}`, `${'aaaa/'.repeat(800)}x`],
  [
    `*[${Array.from({ length: 2000 }, (_, index) => String.fromCharCode(0x3000 + 2 * index)).join('')}]z`,
    'a'.repeat(255),
  ],
])('a slow glob is fast, or refused: %#', async (pattern, subject) => {
  const matches = compileGlob(pattern);
  const tryOut = () => {
    try {
      matches(subject);
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(RangeError);
    }
  };
  await expectCheap(tryOut, 12);
});

test('a glob has a limit of steps for all files together, and reports when they are used up', () => {
  const matches = compileGlob('*a*a*a*a*a*a*a*a*a*c{1..999}');
  const tryAll = () => {
    for (let count = 0; count < 100_000; count++) matches(`${'a'.repeat(200)}c${count}`);
  };
  expect(tryAll).toThrow('takes too many steps on these files');
});
