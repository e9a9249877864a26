import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Side } from './compare.ts';
import { run } from './run-program.ts';
import type { Tree } from './scratch-trees.ts';

/** No settings of the person who runs the bench. */
const env = {
  PATH: process.env.PATH ?? '',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  ...{ GIT_AUTHOR_NAME: 'b', GIT_AUTHOR_EMAIL: 'b@b', GIT_COMMITTER_NAME: 'b', GIT_COMMITTER_EMAIL: 'b@b' },
};

/** A repository over a tree, with everything committed. */
export function makeRepository(tree: Tree) {
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', tree.directory, ...args], { env, encoding: 'utf8', maxBuffer: 2 ** 28 }).trim();
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('commit', '-q', '-m', 'all');
  const sideIndex = join(tree.directory, '.git/side-index');
  cpSync(join(tree.directory, '.git/index'), sideIndex);
  const side = { ...env, GIT_INDEX_FILE: sideIndex };
  const start = (args: readonly string[], variables: Record<string, string> = env) =>
    run('git', ['-C', tree.directory, ...args], variables);

  return {
    git,
    /** Saves the tree without a commit, as people do by hand. Leaves out new files. */
    stash: (): Promise<unknown> => start(['stash', 'create']),
    /** Uses an index file of its own, so that git remembers the files of the last snapshot. */
    async sideSnapshot(): Promise<void> {
      await start(['add', '-A'], side);
      const root = await start(['write-tree'], side);
      await start(['commit-tree', root.trim(), '-m', 'snapshot'], side);
    },
    readTree: (from: string, to: string): Promise<unknown> => start(['read-tree', '-m', '-u', from, to]),
  };
}

export function copying(tree: Tree, to: string): Side {
  return {
    async prepare() {
      rmSync(to, { recursive: true, force: true });
    },
    run: () => run('cp', ['-a', tree.directory, to], env),
  };
}
