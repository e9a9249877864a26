import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { shellIn } from '../../../test/contracts/sandbox.ts';
import { makeFixture, open, openAt } from '../../../test/support/sandboxes/bubblewrap-fixture.ts';

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
  const attacksOn = (name: string) => [
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

  test.each(['.git/config', '.git/hooks/pre-commit'])('%s cannot be changed, replaced or removed', async (name) => {
    const { sandbox, directory } = await open(tree);
    const before = readFileSync(join(directory, name), 'utf8');
    for (const attack of attacksOn(name)) expect((await shellIn(sandbox, attack)).code, attack).not.toBe(0);
    await shellIn(sandbox, `rm -rf ${name.split('/')[0]}`);
    expect(readFileSync(join(directory, name), 'utf8')).toBe(before);
  });

  test('a single file at the top changes only inside the sandbox, and the change is reported', async () => {
    const { sandbox, directory } = await open(tree);
    const inode = () => statSync(join(directory, '.mcp.json')).ino;
    const before = inode();
    for (const attack of attacksOn('.mcp.json')) {
      await shellIn(sandbox, attack);
      expect(readFileSync(join(directory, '.mcp.json'), 'utf8'), attack).toBe('{}');
    }
    sandbox.takeDenials();
    // The way git creates its lock files.
    const make = 'sysopen(F, ".mcp.json", O_WRONLY|O_CREAT|O_EXCL) or die; print F "made anew\\n"';
    await shellIn(sandbox, `rm .mcp.json && perl -MFcntl -e '${make}'`);
    expect((await shellIn(sandbox, 'cat .mcp.json')).stdout).toBe('made anew\n');
    expect((await shellIn(sandbox, 'echo moved > next; mv next .mcp.json; cat .mcp.json; ls next')).stdout).toBe(
      'moved\n',
    );
    expect(sandbox.takeDenials()).toMatchObject([{ rule: 'held-back', target: '.mcp.json' }]);
    expect([inode(), statSync(join(directory, '.mcp.json')).mode & 0o777]).toEqual([before, 0o644]);
  });

  test('a single file at the top that the person replaces has the content of the person', async () => {
    const { sandbox, directory } = await open(tree);
    await shellIn(sandbox, 'echo evil > .mcp.json');
    writeFileSync(join(directory, 'next'), 'theirs');
    renameSync(join(directory, 'next'), join(directory, '.mcp.json'));
    expect((await shellIn(sandbox, 'cat .mcp.json; echo evil > .mcp.json')).stdout).toBe('theirs');
    expect(readFileSync(join(directory, '.mcp.json'), 'utf8')).toBe('theirs');
  });

  test.each([
    'echo "[core] fsmonitor = evil" > config',
    'echo "[core] fsmonitor = evil" >> config',
    'printf "[core]\\nfsmonitor = evil\\n" > new && mv -f new config',
    'git config core.fsmonitor evil',
    'rm -f config; echo "[core] fsmonitor = evil" > config',
    'ln config second && echo "[core] fsmonitor = evil" > second',
    'echo "[core] fsmonitor = evil" > new && ln -sf new config',
    'echo "[core] fsmonitor = evil" > new && ln -f new config',
    'cd ../..; mv er away; mkdir er; cp -r away/.git er/; echo "[core] fsmonitor = evil" > er/.git/config',
    'cd ..; mv .git away; mkdir -p .git; cp -r away/* .git; echo "[core] fsmonitor = evil" > .git/config',
    'rm -rf hooks; mkdir hooks; echo evil > hooks/pre-commit; chmod +x hooks/pre-commit',
    'echo evil > new; mv new hooks/post-commit; ln -sfn /tmp hooks; mv -T /tmp/x hooks',
  ])('a repository in the workspace cannot get settings or hooks that git would execute: %s', async (attack) => {
    const { sandbox, directory } = await open(tree);
    await shellIn(sandbox, `cd deep/er/.git && ${attack}`);
    const executed = spawnSync('git', ['-C', join(directory, 'deep/er'), 'config', '--get', 'core.fsmonitor']);
    expect(executed.stdout.toString()).toBe('');
    const hooks = join(directory, 'deep/er/.git/hooks');
    expect(existsSync(hooks) ? readdirSync(hooks) : []).toEqual(
      existsSync(join(hooks, 'pre-commit')) ? ['pre-commit'] : [],
    );
    expect(readIfThere(join(hooks, 'pre-commit'))).toBe('#!/bin/sh\n');
  });

  test('a repository in the workspace can be removed, and made again', async () => {
    const { sandbox, directory } = await open(tree);
    const script = 'set -e; rm -rf deep; git init -q deep/er; git -C deep/er config user.name x; rm -rf deep/er/.git';
    expect(await shellIn(sandbox, script)).toMatchObject({ code: 0, stderr: '' });
    expect(existsSync(join(directory, 'deep/er/.git'))).toBe(false);
  });

  test.each(['.vscode/settings.json', 'deep/er/.vscode/settings.json'])(
    'programs change a copy of %s, and the file of the person stays the same',
    async (name) => {
      const { sandbox, directory } = await open({ ...tree, [name]: '{}' });
      const script = `set -e; echo evil > ${name}; cat ${name}; rm ${name}; echo again > new; mv new ${name}; cat ${name}`;
      expect(await shellIn(sandbox, script)).toMatchObject({ code: 0, stdout: 'evil\nagain\n' });
      expect(readFileSync(join(directory, name), 'utf8')).toBe('{}');
      expect(sandbox.takeDenials()).toMatchObject([{ layer: 'file', rule: 'held-back', target: name }]);
    },
  );

  test('files beside them can be changed', async () => {
    const { sandbox, directory } = await open(tree);
    expect(await shellIn(sandbox, 'echo new > a/b/free.txt && mv a/b/free.txt a/moved')).toMatchObject({ code: 0 });
    expect(readFileSync(join(directory, 'a/moved'), 'utf8')).toBe('new\n');
  });

  test('no hook appears if there was no directory for hooks', async () => {
    const { directory } = makeFixture(bare);
    const sandbox = await openAt(directory);
    await shellIn(sandbox, 'mkdir .git/hooks; echo evil > .git/hooks/pre-commit');
    expect(existsSync(join(directory, '.git/hooks/pre-commit'))).toBe(false);
  });

  test('a repository cannot get the settings of another', async () => {
    const { directory } = makeFixture(bare);
    const sandbox = await openAt(directory);
    await shellIn(sandbox, 'git init -q evil; git -C evil config croft.evil yes; echo ../evil/.git > .git/commondir');
    const seen = spawnSync('git', ['-C', directory, 'config', '--get', 'croft.evil']);
    expect(seen.stdout.toString()).toBe('');
  });

  test.each(['ln -sf refs/heads/main .git/HEAD', 'mv .git/objects kept && ln -s ../kept .git/objects'])(
    'a repository is guarded again after: %s',
    async (disguise) => {
      const { directory } = makeFixture(repository('.git/'));
      const first = await openAt(directory);
      await shellIn(first, disguise);
      await first.close();
      const second = await openAt(directory);
      await shellIn(second, 'echo evil >> .git/config; echo evil >> .git/hooks/pre-commit');
      expect(readFileSync(join(directory, '.git/config'), 'utf8')).toBe(settings);
      expect(readFileSync(join(directory, '.git/hooks/pre-commit'), 'utf8')).toBe('#!/bin/sh\n');
    },
  );

  test('a linked worktree cannot be given settings that git would execute', async () => {
    const at = '.git/worktrees/linked';
    const worktree = {
      [`${at}/HEAD`]: 'ref: refs/heads/x\n',
      [`${at}/commondir`]: '../..\n',
      [`${at}/gitdir`]: '/x/.git\n',
    };
    const { sandbox, directory } = await open({ ...tree, ...worktree });
    const attack = `git init -q evil; git -C evil config core.fsmonitor evil
      echo ../../../evil/.git > ${at}/commondir; printf '[core]\nfsmonitor = evil\n' | tee ${at}/config ${at}/config.worktree`;
    await shellIn(sandbox, attack);
    expect(readFileSync(join(directory, at, 'commondir'), 'utf8')).toBe('../../../evil/.git\n');
    const seen = spawnSync('git', ['-C', join(directory, 'linked'), 'config', '--get', 'core.fsmonitor']);
    expect(seen.stdout.toString()).toBe('');
  });

  test('git works in a workspace that is not a repository yet', async () => {
    const { sandbox } = await open();
    const script = `set -e; git init -q; echo 1 > a; git add a; git commit -qm one; git branch side; git checkout -q side
      echo 2 > a; git commit -qam two; git worktree add -q tree main; cat tree/a; git clone -q . copy; cat copy/a
      git log --oneline | wc -l; git -C copy config user.name other; git status --porcelain`;
    expect(await shellIn(sandbox, script)).toMatchObject({ code: 0, stdout: '1\n2\n2\n?? copy/\n?? tree/\n' });
  });

  test('git works in a repository that was there before', async () => {
    const { directory } = makeFixture();
    execFileSync('git', ['init', '-q', '-b', 'main', directory]);
    const sandbox = await openAt(directory);
    const script = `set -e; echo 1 > a; git add a; git commit -qm one; git branch side; git checkout -q side
      echo 2 > a; git commit -qam two; git worktree add -q tree main; git -C tree commit -q --allow-empty -m three
      git merge -q main -m merged; git stash list; git tag t; git log --oneline | wc -l; git branch -D main || true`;
    expect(await shellIn(sandbox, script)).toMatchObject({ code: 0, stdout: '4\n' });
  });
});

function readIfThere(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '#!/bin/sh\n';
}

function parentsOf(name: string): string[] {
  const parts = name.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}
