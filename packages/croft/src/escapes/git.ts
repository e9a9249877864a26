import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { attackFiles } from './attack-files.ts';
import type { Escape, EscapeFixture } from './escape.ts';
import {
  attemptByTools,
  attemptElsewhere,
  attemptLeftovers,
  attemptNested,
  attemptNewRepositories,
  attemptOptions,
  attemptReplaced,
  gitControlPaths,
  linkedWorktree,
  repositoryTree,
  settings,
} from './git-attempts.ts';
import { toVerdict } from './to-verdict.ts';

/** D: files that git obeys when the user runs it later, outside the sandbox. */
export const git: readonly Escape[] = [
  guardedGitEscape('D53', 'hooks and settings of a repository', repositoryTree('.git/'), gitControlPaths('.git/')),
  { id: 'D53b', title: 'hooks and settings, by the file tools', guards: ['files'], attempt: attemptByTools },
  {
    id: 'D54',
    title: 'hooks and settings of nested repositories and submodules',
    guards: ['control-files'],
    attempt: attemptNested,
  },
  {
    id: 'D54c',
    title: 'a git directory made inside, of any name and by any way',
    guards: ['control-files'],
    attempt: attemptNewRepositories,
  },
  {
    id: 'D54d',
    title: 'a git directory outside the workspace, to which a `.git` file leads',
    guards: ['control-files'],
    attempt: attemptElsewhere,
  },
  {
    id: 'D53c',
    title: 'settings that the person replaced while a sandbox was open',
    guards: ['control-files'],
    attempt: attemptReplaced,
  },
  {
    id: 'D54b',
    title: 'a hook where there was no directory for hooks',
    guards: ['control-files'],
    async attempt(fixture) {
      const { '.git/hooks/pre-commit': _, ...bare } = repositoryTree('.git/');
      const own = await fixture.open({ tree: bare });
      await own.run('mkdir .git/hooks; mv .git/hooks gone && mkdir .git/hooks; cp prober .git/hooks/pre-commit');
      return toVerdict(existsSync(join(own.workspace, '.git/hooks/pre-commit')) && 'there is a hook');
    },
  },
  {
    id: 'D55',
    title: 'settings that make git run a program',
    guards: ['control-files'],
    async attempt(fixture) {
      const own = await fixture.open({ tree: repositoryTree('.git/') });
      const programs = ['core.fsmonitor', 'core.hooksPath', 'core.pager', 'core.sshCommand', 'diff.external'];
      const names = [...programs, 'filter.x.clean', 'alias.status'];
      const others = ['git config --file .git/config core.fsmonitor evil', 'git remote add evil ext::evil'];
      await own.run([...names.map((name) => `git config ${name} ./evil.sh`), ...others].join('\n'));
      const { output } = await own.run('cat .git/config');
      return toVerdict(/evil/.test(output) && 'the settings are other ones');
    },
  },
  guardedGitEscape(
    'D55b',
    'hooks where the settings say they are',
    {
      ...repositoryTree('.git/'),
      '.git/config': `${settings}\thooksPath = .githooks\n`,
      '.githooks/pre-commit': '#!/bin/sh\n',
    },
    ['.githooks/pre-commit', '.githooks'],
  ),
  guardedGitEscape(
    'D55c',
    'settings that the settings include',
    {
      ...repositoryTree('.git/'),
      '.git/config': `${settings}[include]\n\tpath = ../shared/gitconfig\n`,
      'shared/gitconfig': '[user]\n\tname = somebody\n',
    },
    ['shared/gitconfig'],
  ),
  {
    id: 'D56',
    title: 'a worktree that is pointed to another repository',
    guards: ['control-files'],
    async attempt(fixture) {
      const own = await fixture.open({ tree: { ...repositoryTree('.git/'), ...linkedWorktree } });
      await own.run(`git init -q evil; git -C evil config core.fsmonitor evil; echo '[core] fsmonitor = evil' >> evil/.git/config
        echo ../../../evil/.git > .git/worktrees/linked/commondir; echo 'gitdir: ../evil/.git' > linked/.git`);
      const { output } = await own.run('git -C linked config --get core.fsmonitor; exit 0');
      return toVerdict(output !== '' && 'the settings are those of another');
    },
  },
  {
    id: 'D56b',
    title: 'a repository that takes the settings of another',
    guards: ['control-files'],
    async attempt(fixture) {
      const own = await fixture.open({ tree: repositoryTree('.git/') });
      await own.run('git init -q evil; git -C evil config alias.evil yes; echo ../evil/.git > .git/commondir');
      await own.run('mv .git gone && cp -r evil/.git .git');
      const { output } = await own.run('git config --get alias.evil; exit 0');
      return toVerdict(output !== '' && 'the settings are those of another');
    },
  },
  {
    id: 'D57',
    title: 'settings for one worktree alone',
    guards: ['control-files'],
    async attempt(fixture) {
      const extended = `${settings}[extensions]\n\tworktreeConfig = true\n`;
      const there = await fixture.open({
        tree: { ...repositoryTree('.git/'), '.git/config': extended, '.git/config.worktree': '' },
      });
      const missing = await fixture.open({ tree: { ...repositoryTree('.git/'), '.git/config': extended } });
      await missing.run('printf "[croft]\\nevil = yes\\n" > .git/config.worktree');
      const { output } = await missing.run('git config --get croft.evil; exit 0');
      return toVerdict(
        await attackFiles(there, ['.git/config.worktree']),
        output !== '' && 'settings came where none were',
      );
    },
  },
  guardedGitEscape('D58', 'attributes that send files through filters', repositoryTree('.git/'), [
    '.git/info/attributes',
  ]),
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

function guardedGitEscape(id: string, title: string, tree: Record<string, string>, files: readonly string[]): Escape {
  const attempt = async (fixture: EscapeFixture) => toVerdict(await attackFiles(await fixture.open({ tree }), files));
  return { id, title, guards: ['control-files'], attempt };
}
