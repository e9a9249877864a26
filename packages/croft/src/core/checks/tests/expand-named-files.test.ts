import { expect, test } from 'vitest';
import { createMemoryFiles } from '../../../../test/support/memory-files.ts';
import { expandNamedFiles } from './expand-named-files.ts';

const tree = {
  'app/test/top.test.js': '',
  'app/test/a/one.test.js': '',
  'app/test/a/b/two.test.js': '',
  'app/test/a/.hidden.test.js': '',
  'app/test/.git/x.test.js': '',
  'app/test/node_modules/x.test.js': '',
  'app/dist/three.test.mjs': '',
  'app/root.test.js': '',
  'outside.test.js': '',
};

function expand(text: string, isForShell: boolean, takesOnlyFiles = true) {
  const { files } = createMemoryFiles(tree);
  return expandNamedFiles([{ text, isForShell }], { files, directory: 'app', takesOnlyFiles });
}

test.each([
  ['a shell knows no two stars', 'test/**/*.test.js', true, ['test/a/one.test.js']],
  [
    'who finds files himself does',
    'test/**/*.test.js',
    false,
    ['test/a/b/two.test.js', 'test/a/one.test.js', 'test/top.test.js'],
  ],
  ['what fits nothing in a shell is left to the program', 'test/a/b/**/two.test.js', true, ['test/a/b/two.test.js']],
  ['a pattern without a directory is of this one', '*.test.js', true, ['root.test.js']],
  ['alternatives are the program’s', '{test,dist}/*.test.{js,mjs}', true, ['dist/three.test.mjs', 'test/top.test.js']],
  ['also in what is built', 'dist/*.mjs', true, ['dist/three.test.mjs']],
  ['a file is itself', 'test/top.test.js', true, ['test/top.test.js']],
  ['what fits nothing stays', 'nowhere/*.js', true, ['nowhere/*.js']],
  ['what is no pattern stays', 'test/[', true, ['test/[']],
  ['nothing is looked for outside', '../*.test.js', true, ['../*.test.js']],
])('%s: %s', async (_, text, isForShell, paths) => {
  expect(await expand(text, isForShell)).toEqual(paths);
});

test('a test runner that expands patterns itself gets those that no shell would expand', async () => {
  expect(await expand('test/**/*.test.js', false, false)).toEqual(['test/**/*.test.js']);
  expect(await expand('test/**/*.test.js', true, false)).toEqual(['test/a/one.test.js']);
});

test('a pattern over too deep a tree is left to the program', async () => {
  const deep = Array.from({ length: 20 }, (_, level) => `d${level}`).join('/');
  const { files } = createMemoryFiles({ 'a.test.js': '', [`${deep}/b.test.js`]: '' });
  const search = { files, directory: '', takesOnlyFiles: true };
  expect(await expandNamedFiles([{ text: '**/*.test.js', isForShell: false }], search)).toEqual(['**/*.test.js']);
});
