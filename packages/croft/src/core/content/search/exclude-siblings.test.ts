import { spawnSync } from 'node:child_process';
import { posix } from 'node:path';
import { expect, test } from 'vitest';
import { makeDirectory } from '../../../../test/support/harness.ts';
import { excludeSiblings } from './exclude-siblings.ts';

const directories = [
  ...['src', 'src/app', 'src/app/deep', 'src/app2', 'src/ap', 'src/a', 'src/bpp', 'src/lib', 'src/App', 'src/äpp'],
  ...[
    'src2',
    'sr',
    's',
    'test',
    'test/src/app',
    '.git2',
    '-rf',
    'odd name',
    'x!',
    'a{b}',
    'a-b.c@d+e_1',
    'src/-',
    'src/.x',
  ],
];

function search(pattern: string): string[] {
  const tree = directories.map((directory) => [`${directory}/x.ts`, '']);
  using fixture = makeDirectory({ 'x.ts': '', '.gitignore': 'src/app/deep\n', ...Object.fromEntries(tree) });
  const argv = ['--files', '--hidden', '--no-config', '--no-require-git', ...excludeSiblings(pattern)];
  const { stdout } = spawnSync('rg', argv, { cwd: fixture.path, encoding: 'utf8' });
  const paths = stdout.split('\n').filter((path) => path !== '' && path !== '.gitignore');
  return paths.map((path) => posix.dirname(path)).sort();
}

test.each([
  [
    'src/*.ts',
    ['src', 'src/-', 'src/.x', 'src/App', 'src/a', 'src/ap', 'src/app', 'src/app2', 'src/bpp', 'src/lib', 'src/äpp'],
  ],
  ['src/app/*.ts', ['src/app']],
  ['src/app/deep/*.ts', []],
  ['src/a/x', ['src/a']],
  ['src/-/x', ['src/-']],
  ['src/.x/x', ['src/.x']],
  ['s/x', ['s']],
  ['a-b.c@d+e_1/x', ['a-b.c@d+e_1']],
  ['-rf/x', ['-rf']],
  ['test/*/app/x', ['test', 'test/src/app']],
  ['gone/x', []],
])('%s is searched from its parents without its siblings, and ignored files stay ignored', (pattern, found) => {
  expect(search(pattern)).toEqual(found.toSorted());
});

// Names that a pattern must escape are matched correctly too.
test.each([
  ...['*.ts', 'src', '**/app/x', '{src,test}/x', '!src/x', '/src/x', './src/x', '../x', 's\\rc/x', 'odd name/x', ''],
  ...[`${'long'.repeat(60)}/x`],
])('%j excludes no sibling', (pattern) => {
  expect(excludeSiblings(pattern)).toEqual([]);
});

test('the exclusions of a very deep path stay within their size limit', () => {
  expect(excludeSiblings(`${'deep/'.repeat(1000)}x`).length).toBeLessThanOrEqual(300);
});
