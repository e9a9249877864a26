import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeGround, open, openAt } from '../../../test/bubblewrap-ground.ts';
import { shellIn } from '../../../test/contracts/sandbox.ts';

describe('control files', () => {
  const settings = '[core]\n\trepositoryformatversion = 0\n\tbare = false\n';
  const repository = (at: string) => ({
    [`${at}HEAD`]: 'ref: refs/heads/main\n',
    [`${at}config`]: settings,
    [`${at}hooks/pre-commit`]: '#!/bin/sh\n',
    [`${at}objects/info/x`]: '',
    [`${at}refs/heads/x`]: '',
  });
  const bare = {
    '.git/HEAD': 'ref: refs/heads/main\n',
    '.git/config': settings,
    '.git/objects/x': '',
    '.git/refs/x': '',
  };
  const tree = {
    ...repository('.git/'),
    ...repository('deep/er/.git/'),
    '.mcp.json': '{}',
    'a/b/.vscode/settings.json': '{}',
    'a/b/free.txt': 'free',
    'linked/.git': 'gitdir: ../.git/worktrees/linked\n',
  };
  const held = ['.git/config', '.git/hooks/pre-commit', 'deep/er/.git/config', 'deep/er/.git/hooks/pre-commit'];
  const files = [...held, '.mcp.json', 'a/b/.vscode/settings.json', 'linked/.git'] as const;

  test.each(files)('%s cannot be changed, replaced or taken away', async (name) => {
    const { sandbox, directory } = await open(tree);
    const before = readFileSync(join(directory, name), 'utf8');
    const attacks = [
      `echo evil > ${name}`,
      `echo evil >> ${name}`,
      `rm -f ${name}`,
      `mv ${name} gone`,
      `ln ${name} second && echo evil > second`,
      `echo evil > new && mv -f new ${name}`,
      `ln -sf /tmp/evil ${name}`,
      `chmod 777 ${name}`,
      `truncate -s 0 ${name}`,
      ...parentsOf(name).map((parent) => `mv ${parent} gone`),
    ];
    for (const attack of attacks) expect((await shellIn(sandbox, attack)).code, attack).not.toBe(0);
    await shellIn(sandbox, `rm -rf ${name.split('/')[0]}`);
    expect(readFileSync(join(directory, name), 'utf8')).toBe(before);
  });

  test('what is beside them can be changed', async () => {
    const { sandbox, directory } = await open(tree);
    expect(await shellIn(sandbox, 'echo new > a/b/free.txt && mv a/b/free.txt a/moved')).toMatchObject({ code: 0 });
    expect(readFileSync(join(directory, 'a/moved'), 'utf8')).toBe('new\n');
  });

  test('no hook appears where no directory for hooks was', async () => {
    const { directory } = makeGround(bare);
    const sandbox = await openAt(directory);
    await shellIn(sandbox, 'mkdir .git/hooks; echo evil > .git/hooks/pre-commit');
    expect(existsSync(join(directory, '.git/hooks/pre-commit'))).toBe(false);
  });

  test('a repository cannot be given the settings of another', async () => {
    const { directory } = makeGround(bare);
    const sandbox = await openAt(directory);
    await shellIn(sandbox, 'git init -q evil; git -C evil config croft.evil yes; echo ../evil/.git > .git/commondir');
    const seen = spawnSync('git', ['-C', directory, 'config', '--get', 'croft.evil']);
    expect(seen.stdout.toString()).toBe('');
  });

  test.each(['ln -sf refs/heads/main .git/HEAD', 'mv .git/objects kept && ln -s ../kept .git/objects'])(
    'a repository is known again after: %s',
    async (disguise) => {
      const { directory } = makeGround(repository('.git/'));
      const first = await openAt(directory);
      await shellIn(first, disguise);
      await first.close();
      const second = await openAt(directory);
      await shellIn(second, 'echo evil >> .git/config; echo evil >> .git/hooks/pre-commit');
      expect(readFileSync(join(directory, '.git/config'), 'utf8')).toBe(settings);
      expect(readFileSync(join(directory, '.git/hooks/pre-commit'), 'utf8')).toBe('#!/bin/sh\n');
    },
  );

  test('the settings of a linked worktree are held too', async () => {
    const at = '.git/worktrees/linked';
    const worktree = {
      [`${at}/HEAD`]: 'ref: refs/heads/x\n',
      [`${at}/commondir`]: '../..\n',
      [`${at}/gitdir`]: '/x/.git\n',
    };
    const { sandbox, directory } = await open({ ...tree, ...worktree });
    await shellIn(sandbox, `echo /workspace/evil > ${at}/commondir; echo evil > ${at}/gitdir`);
    expect(readFileSync(join(directory, at, 'commondir'), 'utf8')).toBe('../..\n');
    expect(readFileSync(join(directory, at, 'gitdir'), 'utf8')).toBe('/x/.git\n');
  });

  test('git works in a workspace that is none yet', async () => {
    const { sandbox } = await open();
    const script = `set -e; git init -q; echo 1 > a; git add a; git commit -qm one; git branch side; git checkout -q side
      echo 2 > a; git commit -qam two; git worktree add -q tree main; cat tree/a; git clone -q . copy; cat copy/a
      git log --oneline | wc -l; git -C copy config user.name other; git status --porcelain`;
    expect(await shellIn(sandbox, script)).toMatchObject({ code: 0, stdout: '1\n2\n2\n?? copy/\n?? tree/\n' });
  });

  test('git works in a repository that was there before', async () => {
    const { directory } = makeGround();
    execFileSync('git', ['init', '-q', '-b', 'main', directory]);
    const sandbox = await openAt(directory);
    const script = `set -e; echo 1 > a; git add a; git commit -qm one; git branch side; git checkout -q side
      echo 2 > a; git commit -qam two; git worktree add -q tree main; git -C tree commit -q --allow-empty -m three
      git merge -q main -m merged; git stash list; git tag t; git log --oneline | wc -l; git branch -D main || true`;
    expect(await shellIn(sandbox, script)).toMatchObject({ code: 0, stdout: '4\n' });
  });
});

function parentsOf(name: string): string[] {
  const parts = name.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}
