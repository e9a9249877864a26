import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { shellIn } from '../../../test/contracts/sandbox.ts';
import { makeDirectory } from '../../../test/support/harness.ts';
import { openSandbox } from '../../../test/support/sandboxes/open-sandbox.ts';

interface Tree {
  readonly files?: Readonly<Record<string, string>>;
  readonly links: Readonly<Record<string, string>>;
}

function makeTree({ files = {}, links }: Tree): string {
  const fixture = makeDirectory();
  onTestFinished(() => fixture[Symbol.dispose]());
  const put = (name: string, make: (path: string) => void) => {
    mkdirSync(dirname(fixture.at(name)), { recursive: true });
    make(fixture.at(name));
  };
  for (const [name, content] of Object.entries(files)) put(name, (path) => writeFileSync(path, content));
  for (const [name, target] of Object.entries(links)) put(name, (path) => symlinkSync(target, path));
  return fixture.at('.');
}

const attacksOn = (name: string) => [
  `rm -f ${name}`,
  `mv ${name} gone`,
  `ln -sfn /tmp/evil ${name}`,
  `echo evil > new && mv -f new ${name}`,
  `mkdir evil; mv -fT evil ${name}`,
];

describe('control files that are links', () => {
  test.each([
    ['to a file', { files: { 'conf/mcp.json': '{}' }, links: { '.mcp.json': 'conf/mcp.json' } }],
    ['to a link', { files: { 'conf/mcp.json': '{}' }, links: { '.mcp.json': 'second', second: 'conf/mcp.json' } }],
    ['by its whole name', { files: { 'conf/mcp.json': '{}' }, links: { '.mcp.json': '/workspace/conf/mcp.json' } }],
    ['to nothing', { files: {}, links: { '.mcp.json': 'nowhere' } }],
  ])('%s stay in place, with their target', async (_, tree: Tree) => {
    const root = makeTree(tree);
    const sandbox = await openSandbox(root);
    for (const link of Object.keys(tree.links))
      for (const attack of attacksOn(link)) expect((await shellIn(sandbox, attack)).code, attack).not.toBe(0);
    for (const file of Object.keys(tree.files ?? {}))
      for (const attack of [`echo evil > ${file}`, `rm ${file}`, `mv ${dirname(file)} gone`])
        expect((await shellIn(sandbox, attack)).code, attack).not.toBe(0);
    await shellIn(sandbox, 'rm -rf conf second .mcp.json .vscode');
    for (const [link, target] of Object.entries(tree.links)) expect(readlinkSync(join(root, link))).toBe(target);
    for (const [file, content] of Object.entries(tree.files ?? {}))
      expect(readFileSync(join(root, file), 'utf8')).toBe(content);
  });

  test('the target of a link can be read by its own name', async () => {
    const sandbox = await openSandbox(
      makeTree({ files: { 'conf/mcp.json': '{"a":1}' }, links: { '.mcp.json': 'conf/mcp.json' } }),
    );
    expect((await shellIn(sandbox, 'cat .mcp.json')).stdout).toBe('{"a":1}');
  });

  test('other links can be changed', async () => {
    const sandbox = await openSandbox(makeTree({ files: { 'a/f': 'x' }, links: { plain: 'a', 'a/.hidden': 'f' } }));
    expect(await shellIn(sandbox, 'cat plain/f && rm plain a/.hidden')).toMatchObject({ code: 0, stdout: 'x' });
  });

  test('a link out of the workspace is guarded, and loops end', async () => {
    const links = { '.mcp.json': '../../etc/passwd', '.zshrc': '.zshrc', '.bashrc': 'a', a: '.bashrc' };
    const sandbox = await openSandbox(makeTree({ links }));
    for (const link of ['.mcp.json', '.zshrc', '.bashrc'])
      expect((await shellIn(sandbox, `rm -f ${link}`)).code).not.toBe(0);
  });

  test.each([
    ['a repository', { files: { 'real/HEAD': 'ref: x\n', 'real/objects/x': '' }, links: { '.git': 'real' } }, '.git'],
    ['one on the way', { files: { 'e/mcp.json': '{}' }, links: { d: 'e', '.mcp.json': 'd/mcp.json' } }, 'd'],
  ])('a directory that programs need cannot be guarded behind a link: %s', async (_, tree, name) => {
    await expect(openSandbox(makeTree(tree))).rejects.toMatchObject({
      code: 'E_SANDBOX_UNAVAILABLE',
      message: expect.stringContaining(`${name} is a link to a directory and cannot be held in place`),
    });
  });
});

describe('hooks in another directory', () => {
  test.each(['githooks', './githooks', '"githooks"'])('core.hooksPath = %s is guarded', async (value) => {
    const root = makeTree({ files: { 'githooks/pre-commit': '#!/bin/sh\n' }, links: {} });
    execFileSync('git', ['init', '-q', root]);
    writeFileSync(join(root, '.git/config'), `[core]\n\tbare = false\n\tHooksPath = ${value}\n`);
    const sandbox = await openSandbox(root);
    await shellIn(sandbox, 'echo evil > githooks/pre-commit; echo evil > githooks/post-commit');
    expect((await shellIn(sandbox, 'mv githooks gone')).code).not.toBe(0);
    expect((await shellIn(sandbox, 'cat githooks/pre-commit')).stdout).toBe('evil\n');
    expect(readFileSync(join(root, 'githooks/pre-commit'), 'utf8')).toBe('#!/bin/sh\n');
    expect(readdirSync(join(root, 'githooks'))).toEqual(['pre-commit']);
  });

  test('a link to a directory of an editor stays, with its target', async () => {
    const root = makeTree({ files: { 'conf/tasks.json': '{}' }, links: { '.vscode': 'conf' } });
    const sandbox = await openSandbox(root);
    for (const attack of attacksOn('.vscode')) expect((await shellIn(sandbox, attack)).code, attack).not.toBe(0);
    await shellIn(sandbox, 'echo evil > conf/tasks.json; echo evil > .vscode/new; rm -rf conf .vscode');
    expect(readlinkSync(join(root, '.vscode'))).toBe('conf');
    expect(readFileSync(join(root, 'conf/tasks.json'), 'utf8')).toBe('{}');
    expect(readdirSync(join(root, 'conf'))).toEqual(['tasks.json']);
  });

  test.each([
    ['[include]\n\tpath = ../shared/one', 'shared/one'],
    ['[include] path = ../shared/one', 'shared/one'],
    ['[includeIf "gitdir:/"]\n\tpath = ../shared/one # why', 'shared/one'],
    ['[include]\n\tpath = /workspace/shared/one', 'shared/one'],
    ['[include]\n\tpath = ../shared/two', 'shared/one'],
  ])('included settings are guarded: %s', async (text, name) => {
    const files = { 'shared/one': '[user]\n\tname = x\n', 'shared/two': '[include]\n\tpath = one\n' };
    const root = makeTree({ files, links: {} });
    execFileSync('git', ['init', '-q', root]);
    writeFileSync(join(root, '.git/config'), `[core]\n\tbare = false\n${text}\n`);
    const sandbox = await openSandbox(root);
    await shellIn(sandbox, `echo evil >> ${name}; mv shared gone; rm -rf shared`);
    expect(readFileSync(join(root, name), 'utf8')).toBe('[user]\n\tname = x\n');
  });

  test('settings of one worktree cannot be added', async () => {
    const root = makeTree({ links: {} });
    execFileSync('git', ['init', '-q', root]);
    execFileSync('git', ['-C', root, 'config', 'extensions.worktreeConfig', 'true']);
    const sandbox = await openSandbox(root);
    await shellIn(sandbox, 'printf "[croft]\\nevil = yes\\n" > .git/config.worktree');
    expect(spawnSync('git', ['-C', root, 'config', '--get', 'croft.evil']).stdout.toString()).toBe('');
  });

  test('hooks behind a link are guarded, and git still works', async () => {
    const root = makeTree({ files: { 'shared/pre-push': '#!/bin/sh\n' }, links: {} });
    execFileSync('git', ['init', '-q', root]);
    execFileSync('rm', ['-r', join(root, '.git/hooks')]);
    symlinkSync('../shared', join(root, '.git/hooks'));
    const sandbox = await openSandbox(root);
    expect(await shellIn(sandbox, 'git add shared && git commit -qm one')).toMatchObject({ code: 0 });
    await shellIn(
      sandbox,
      'rm .git/hooks; mkdir .git/hooks; echo evil > .git/hooks/pre-commit; echo evil > shared/pre-push',
    );
    expect(readlinkSync(join(root, '.git/hooks'))).toBe('../shared');
    expect(readFileSync(join(root, 'shared/pre-push'), 'utf8')).toBe('#!/bin/sh\n');
    expect(spawnSync('git', ['-C', root, 'log', '--oneline']).stdout.toString()).toContain('one');
  });
});
