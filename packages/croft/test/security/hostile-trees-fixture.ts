import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';
import { makeDirectory } from '../support/harness.ts';

/** Directory for compiled programs, and home of git. */
export const build = makeDirectory();
afterAll(() => build[Symbol.dispose]());

export function makeTree(files: Readonly<Record<string, string>> = {}) {
  const fixture = makeDirectory();
  onTestFinished(() => fixture[Symbol.dispose]());
  const root = realpathSync(fixture.path);
  const at = (name: string) => join(root, name);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), content);
  }
  return { root, at };
}

export function makeRepository(files: Readonly<Record<string, string>> = {}) {
  const tree = makeTree(files);
  git(tree.root, 'init', '-q');
  return tree;
}

/** Environment outside the sandbox, with no git settings but those of the tree. */
export const outside = { PATH: process.env.PATH, HOME: build.path, GIT_CONFIG_NOSYSTEM: '1' };
export const git = (directory: string, ...argv: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...argv], {
    cwd: directory,
    env: outside,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
