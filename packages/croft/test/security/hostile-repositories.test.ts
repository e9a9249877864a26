import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { shellIn } from '../contracts/sandbox.ts';
import { openSandbox } from '../support/sandboxes/open-sandbox.ts';
import { git, makeRepository, makeTree, outside } from './hostile-trees-fixture.ts';

describe('changes of one sandbox to the tree do not free the control files of the next', () => {
  test('a workspace that looks like a git directory', async () => {
    const files = { '.mcp.json': 'mine', '.vscode/tasks.json': 'mine', '.claude/settings.json': 'mine' };
    const { root, at } = makeRepository(files);
    await shellIn(await openSandbox(root), 'echo ref: refs/heads/main > HEAD; mkdir objects refs');
    const sandbox = await openSandbox(root);
    for (const name of Object.keys(files)) await shellIn(sandbox, `echo evil > ${name}`);
    for (const name of Object.keys(files)) expect(readFileSync(at(name), 'utf8'), name).toBe('mine');
  });

  test.each(['000', '300', '400', '500', '600'])('a directory with mode %s, which nobody may read', async (mode) => {
    const { root, at } = makeRepository({ 'sub/.git/HEAD': 'ref: refs/heads/x\n', 'sub/.vscode/tasks.json': 'mine' });
    await shellIn(await openSandbox(root), `chmod ${mode} .git sub`);
    const sandbox = await openSandbox(root);
    const attack = 'echo evil > .git/hooks/post-commit; echo evil > sub/.vscode/tasks.json; echo evil > .git/config';
    await shellIn(sandbox, `chmod 755 .git sub; ${attack}`);
    chmodSync(at('.git'), 0o755);
    chmodSync(at('sub'), 0o755);
    expect(existsSync(at('.git/hooks/post-commit'))).toBe(false);
    expect(readFileSync(at('sub/.vscode/tasks.json'), 'utf8')).toBe('mine');
    expect(readFileSync(at('.git/config'), 'utf8')).not.toContain('evil');
  });

  test('a repository where no file can be created opens, and stays as it is', async () => {
    const { root, at } = makeRepository();
    rmSync(at('.git/hooks'), { recursive: true, force: true });
    chmodSync(at('.git'), 0o555);
    const sandbox = await openSandbox(root);
    await shellIn(sandbox, 'chmod 755 .git; mkdir .git/hooks; echo evil > .git/hooks/post-commit');
    expect(existsSync(at('.git/hooks'))).toBe(false);
  });
});

describe('a file that git would obey as soon as it exists cannot be created:', () => {
  const evil = '"[croft]\\nevil = yes\\n"';
  const isObeyed = (directory: string) =>
    spawnSync('git', ['config', '--get', 'croft.evil'], { cwd: directory, env: outside }).status === 0;

  test('settings, where there were none', async () => {
    const { root, at } = makeRepository();
    rmSync(at('.git/config'));
    await shellIn(await openSandbox(root), `printf ${evil} > .git/config`);
    expect(isObeyed(root)).toBe(false);
  });

  test('settings that are included if they exist', async () => {
    const { root } = makeRepository();
    git(root, 'config', 'include.path', '../local/settings');
    await shellIn(await openSandbox(root), `mkdir -p local; printf ${evil} > local/settings`);
    expect(isObeyed(root)).toBe(false);
  });

  test('settings in the git directory itself', async () => {
    const { root } = makeRepository();
    git(root, 'config', 'include.path', 'more');
    await shellIn(await openSandbox(root), `printf ${evil} > .git/more`);
    expect(isObeyed(root)).toBe(false);
  });

  test('settings of a linked worktree', async () => {
    const { root, at } = makeRepository();
    git(root, 'commit', '-q', '--allow-empty', '-m', 'one');
    git(root, 'worktree', 'add', '-q', 'linked');
    git(root, 'config', 'extensions.worktreeConfig', 'true');
    await shellIn(await openSandbox(root), `printf ${evil} > .git/worktrees/linked/config.worktree`);
    expect(isObeyed(at('linked'))).toBe(false);
  });

  test('hooks at the path in the settings, if that is empty', async () => {
    const { root, at } = makeRepository();
    git(root, 'config', 'core.hooksPath', 'tools/hooks');
    await shellIn(await openSandbox(root), 'mkdir -p tools/hooks; echo evil > tools/hooks/post-commit');
    expect(existsSync(at('tools/hooks/post-commit'))).toBe(false);
  });

  test('the target of a control file, if it does not exist', async () => {
    const { root, at } = makeTree();
    symlinkSync('later/mcp.json', at('.mcp.json'));
    await shellIn(await openSandbox(root), 'mkdir -p later; echo evil > later/mcp.json');
    expect(readFileSync(at('.mcp.json'), 'utf8')).not.toContain('evil');
  });
});
