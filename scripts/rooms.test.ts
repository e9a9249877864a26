import { globSync, readFileSync } from 'node:fs';
import { dirname, relative } from 'node:path/posix';
import { expect, test } from 'vitest';
import { findProblems } from './rooms.ts';

const source = (file: string, text = '') => ({ file, text });

test('rooms that import each other at runtime are named, also by way of a third', () => {
  const sources = [
    source('a/one.ts', "import { two } from '../b/two.ts';"),
    source('b/two.ts', "export { three } from '../c/three.ts';"),
    source('c/three.ts', "import { one, type Two } from '../a/one.ts';"),
    source('d/four.ts', "import { one } from '../a/one.ts';"),
  ];
  expect(findProblems(sources)).toEqual(['these rooms import each other at runtime: a, b, c']);
});

test('types that import each other are named, unless the cycle is listed', () => {
  const cycle = (one: string, other: string) => [
    source(`${one}/one.ts`, `import type { Two } from '${'../'.repeat(one.split('/').length)}${other}/two.ts';`),
    source(`${other}/two.ts`, `import { type One } from '${'../'.repeat(other.split('/').length)}${one}/one.ts';`),
  ];
  expect(findProblems(cycle('a', 'b'))).toEqual(['the types of these rooms import each other: a, b']);
  expect(findProblems(cycle('core/tools', 'core/workspace'))).toEqual([]);
});

test('a room with more than twenty files is named, unless its files are plug-ins', () => {
  const files = (room: string) => Array.from({ length: 21 }, (_, index) => source(`${room}/${index}.ts`));
  expect(findProblems(files('lib'))).toEqual(['lib has 21 files; at most 20 are easy to survey']);
  expect(findProblems(files('tools'))).toEqual([]);
});

test('every room has a line in docs/architecture.md', () => {
  const page = readFileSync('docs/architecture.md', 'utf8');
  const files = globSync('packages/croft/src/**/*.ts').map((file) => dirname(relative('packages/croft/src', file)));
  const missing = [...new Set(files)].filter((room) => room !== '.' && !page.includes(`| \`${room}\` `));
  expect(missing).toEqual([]);
});
