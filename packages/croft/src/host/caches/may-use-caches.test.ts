import { expect, test } from 'vitest';
import { mayUseCaches } from './may-use-caches.ts';

const bash = (line: string) => mayUseCaches({ argv: ['bash', '-c', line] });

test.each([
  'true',
  'echo 1 > src/first.txt',
  'cd src && ls -la | head -5',
  'cat package.json; grep -rn "npm ci" .',
  'X=1 printf %s "$X"',
  'for f in *; do wc -l "$f"; done',
  'echo "$(cat a)"',
])('%s does not use caches', (line) => {
  expect(bash(line)).toBe(false);
});

test.each([
  'npm ci',
  'ls && npm test',
  'echo "$(npm root)"',
  'echo `npm root`',
  '(cd x; make)',
  'sh build.sh',
  './build.sh',
  '/usr/bin/cat a',
  'find . -exec npm {} +',
  'xargs npm < list',
  'env npm ci',
  'git commit -m x',
  'cat <(npm ls)',
  '$RUN test',
  'eval "npm ci"',
  'if true; then npm ci; fi',
  'awk \'BEGIN { system("npm ci") }\'',
  'ls ~/.m2',
  'ls "$HOME"',
  'find-less; cat /run/croft/caches/npm/x',
  'ls /home/croft/.local',
  '',
])('%s may use caches', (line) => {
  expect(bash(line)).toBe(true);
});

test('a program that is started without a shell is recognised by its name', () => {
  expect(mayUseCaches({ argv: ['npm', 'test'] })).toBe(true);
  expect(mayUseCaches({ argv: ['rm', '-rf', 'x'] })).toBe(false);
  expect(mayUseCaches({ argv: ['bash', '-l'] })).toBe(true);
  expect(mayUseCaches({ argv: ['bash', '-c', 'echo "$0"', 'npm'] })).toBe(true);
});
