import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { shellIn } from '../contracts/sandbox.ts';
import { makeDirectory } from '../harness.ts';
import { openSandbox } from '../open-sandbox.ts';

function makeTree(files: Readonly<Record<string, string>> = {}) {
  const ground = makeDirectory();
  onTestFinished(() => ground[Symbol.dispose]());
  const root = ground.at('.');
  const at = (name: string) => ground.at(name);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), content);
  }
  return { root, at };
}

function makeRepository(files: Readonly<Record<string, string>> = {}) {
  const tree = makeTree(files);
  execFileSync('git', ['init', '-q', tree.root]);
  return tree;
}

describe('what one sandbox does to the tree does not free the control files of the next', () => {
  test('a workspace that looks like a git directory', async () => {
    const { root, at } = makeRepository({ '.envrc': 'mine', '.vscode/tasks.json': 'mine', 'logs/.envrc': 'mine' });
    await shellIn(await openSandbox(root), 'echo ref: refs/heads/main > HEAD; mkdir objects refs');
    const sandbox = await openSandbox(root);
    const names = ['.envrc', '.vscode/tasks.json', 'logs/.envrc'];
    for (const name of names) await shellIn(sandbox, `echo evil > ${name}`);
    for (const name of names) expect(readFileSync(at(name), 'utf8'), name).toBe('mine');
  });

  test.each(['000', '300', '400', '500', '600'])('a directory that nobody may look into: mode %s', async (mode) => {
    const { root, at } = makeRepository({ 'sub/.envrc': 'mine' });
    await shellIn(await openSandbox(root), `chmod ${mode} .git sub`);
    const sandbox = await openSandbox(root);
    await shellIn(
      sandbox,
      'chmod 755 .git sub; echo evil > .git/hooks/post-commit; echo evil > sub/.envrc; echo evil > .git/config',
    );
    chmodSync(at('.git'), 0o755);
    chmodSync(at('sub'), 0o755);
    expect(existsSync(at('.git/hooks/post-commit'))).toBe(false);
    expect(readFileSync(at('sub/.envrc'), 'utf8')).toBe('mine');
    expect(readFileSync(at('.git/config'), 'utf8')).not.toContain('evil');
  });
});

describe('what git would obey cannot come', () => {
  test('settings where there were none', async () => {
    const { root, at } = makeRepository();
    rmSync(at('.git/config'));
    await shellIn(await openSandbox(root), 'git config croft.evil yes; printf "[croft]\\nevil = yes\\n" > .git/config');
    expect(spawnSync('git', ['-C', root, 'config', '--get', 'croft.evil']).stdout.toString()).toBe('');
  });
});
