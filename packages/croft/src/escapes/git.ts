import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Escape, Ground } from './escape.ts';
import {
  attemptByTools,
  attemptLeftovers,
  attemptOptions,
  linkedWorktree,
  repository,
  settings,
  steering,
} from './git-attempts.ts';
import { attackFiles } from './steadfast.ts';
import { verdict } from './verdict.ts';

/** D: what git obeys when the user runs it, later and outside. */
export const git: readonly Escape[] = [
  holding('D53', 'hooks and settings of a repository', repository('.git/'), steering('.git/')),
  { id: 'D53b', title: 'hooks and settings, by the file tools', guards: ['files'], attempt: attemptByTools },
  holding(
    'D54',
    'hooks and settings of nested repositories and submodules',
    {
      ...repository('.git/'),
      ...repository('deep/er/.git/'),
      ...repository('.git/modules/sub/'),
      'sub/.git': 'gitdir: ../.git/modules/sub\n',
    },
    [...steering('deep/er/.git/'), ...steering('.git/modules/sub/'), 'sub/.git'],
  ),
  {
    id: 'D54b',
    title: 'a hook where there was no directory for hooks',
    guards: ['control-files'],
    async attempt(ground) {
      const { '.git/hooks/pre-commit': _, ...bare } = repository('.git/');
      const own = await ground.open({ tree: bare });
      await own.run('mkdir .git/hooks; mv .git/hooks gone && mkdir .git/hooks; cp prober .git/hooks/pre-commit');
      return verdict(existsSync(join(own.workspace, '.git/hooks/pre-commit')) && 'there is a hook');
    },
  },
  {
    id: 'D55',
    title: 'settings that make git run a program',
    guards: ['control-files'],
    async attempt(ground) {
      const own = await ground.open({ tree: repository('.git/') });
      const programs = ['core.fsmonitor', 'core.hooksPath', 'core.pager', 'core.sshCommand', 'diff.external'];
      const names = [...programs, 'filter.x.clean', 'alias.status'];
      const others = ['git config --file .git/config core.fsmonitor evil', 'git remote add evil ext::evil'];
      await own.run([...names.map((name) => `git config ${name} ./evil.sh`), ...others].join('\n'));
      const { output } = await own.run('cat .git/config');
      return verdict(output !== settings && 'the settings are other ones');
    },
  },
  holding(
    'D55b',
    'hooks where the settings say they are',
    {
      ...repository('.git/'),
      '.git/config': `${settings}\thooksPath = .githooks\n`,
      '.githooks/pre-commit': '#!/bin/sh\n',
    },
    ['.githooks/pre-commit', '.githooks'],
  ),
  holding(
    'D55c',
    'settings that the settings include',
    {
      ...repository('.git/'),
      '.git/config': `${settings}[include]\n\tpath = ../shared/gitconfig\n`,
      'shared/gitconfig': '[user]\n\tname = somebody\n',
    },
    ['shared/gitconfig'],
  ),
  holding('D56', 'files that point to a repository', { ...repository('.git/'), ...linkedWorktree }, [
    'linked/.git',
    '.git/worktrees/linked/commondir',
    '.git/worktrees/linked/gitdir',
  ]),
  {
    id: 'D56b',
    title: 'a repository that takes the settings of another',
    guards: ['control-files'],
    async attempt(ground) {
      const own = await ground.open({ tree: repository('.git/') });
      await own.run('git init -q evil; git -C evil config croft.evil yes; echo ../evil/.git > .git/commondir');
      await own.run('mv .git gone && cp -r evil/.git .git');
      const { output } = await own.run('git config --get croft.evil; exit 0');
      return verdict(output !== '' && 'the settings are those of another');
    },
  },
  {
    id: 'D57',
    title: 'settings for one worktree alone',
    guards: ['control-files'],
    async attempt(ground) {
      const extended = `${settings}[extensions]\n\tworktreeConfig = true\n`;
      const there = await ground.open({
        tree: { ...repository('.git/'), '.git/config': extended, '.git/config.worktree': '' },
      });
      const missing = await ground.open({ tree: { ...repository('.git/'), '.git/config': extended } });
      await missing.run('printf "[croft]\\nevil = yes\\n" > .git/config.worktree');
      const { output } = await missing.run('git config --get croft.evil; exit 0');
      return verdict(
        await attackFiles(there, ['.git/config.worktree']),
        output !== '' && 'settings came where none were',
      );
    },
  },
  holding('D58', 'attributes that send files through filters', repository('.git/'), ['.git/info/attributes']),
  {
    id: 'D59',
    title: 'an option in place of a pattern or a path',
    guards: ['server', 'mounts'],
    attempt: attemptOptions,
  },
  {
    id: 'D60',
    title: 'what is left in a repository when a sandbox closes',
    guards: ['control-files'],
    attempt: attemptLeftovers,
  },
];

function holding(id: string, title: string, tree: Record<string, string>, files: readonly string[]): Escape {
  const attempt = async (ground: Ground) => verdict(await attackFiles(await ground.open({ tree }), files));
  return { id, title, guards: ['control-files'], attempt };
}
