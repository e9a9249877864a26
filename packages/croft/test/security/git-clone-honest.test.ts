import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectStdio, type McpSession, makeDirectory } from '../support/harness.ts';
import {
  copyTemplate,
  hostGit,
  makeTemplate,
  privateFiles,
  readRuns,
  runOutside,
  toScript,
  trackedControls,
} from './git-fixture.ts';

/** Honest work with repositories that have control files: it succeeds, only the control files are left out, and the answer says so. */

const names = ['clone', 'recursive', 'scaffold', 'folder', 'back', 'merge', 'stash', 'rebase', 'told', 'person'];
const root = makeDirectory();
let session: McpSession;
beforeAll(async () => {
  using template = makeDirectory();
  await makeTemplate(template.path);
  for (const name of names) copyTemplate(template.path, root.at(name));
  session = await connectStdio(['--workspaces', names.map((name) => `${name}=${root.at(name)}`).join(',')]);
});
afterAll(async () => {
  await session[Symbol.asyncDispose]();
  root[Symbol.dispose]();
});

/** Runs lines that all have to succeed. Returns their output and the denials. */
async function succeed(workspace: string, lines: readonly string[]) {
  const { structured, text } = await session.call('bash', { workspace, command: toScript(lines) });
  const ran = readRuns(lines, structured.output, root.at(workspace));
  expect(ran.filter(({ exit }) => exit !== 0)).toEqual([]);
  return { out: ran.map(({ out }) => out), told: text.slice(structured.output.length) };
}

/** Files that are in one tree and not in the other, or differ. */
function differences(found: string, expected: string): string[] {
  const list = (top: string) => hostGit(top, 'ls-files', '-z', '--cached', '--others').split('\0').filter(Boolean);
  const same = (name: string) =>
    existsSync(`${found}/${name}`) && readFileSync(`${found}/${name}`).equals(readFileSync(`${expected}/${name}`));
  return [...new Set(list(expected))].filter((name) => !name.startsWith('vendor/') && !same(name));
}

const unchanged = (workspace: string) =>
  privateFiles.filter((file) => readFileSync(root.at(`${workspace}/${file}`), 'utf8') !== trackedControls[file]);

describe('a clone of a repository with control files', () => {
  const [dangerous, perhaps] = [
    ['.vscode/settings.json', '.claude/settings.json', '.mcp.json'],
    ['.envrc', '.husky/pre-commit'],
  ];

  test.each([
    ['clone', 'git clone -q remotes/full.git copy'],
    [
      'recursive',
      'git -c protocol.file.allow=always clone -q --recurse-submodules -b main "$PWD/remotes/full.git" copy',
    ],
  ])('%s', async (workspace, clone) => {
    const top = root.at(workspace);
    const add = 'echo "{}" > .mcp.json && git add . && git commit -qm agent && git push -q';
    await runOutside(top, [
      'cp -a remotes/origin.git remotes/full.git',
      `git clone -q remotes/full.git remotes/plain && cd remotes/plain && ${add}`,
    ]);
    const { told: reported, out } = await succeed(workspace, [
      clone,
      'git -C copy log --oneline',
      'cat copy/.vscode/settings.json',
    ]);
    expect(out.at(-1)).toBe(trackedControls['.vscode/settings.json'].trim());

    const away = differences(`${top}/copy`, `${top}/remotes/plain`);
    expect(away).toEqual(expect.arrayContaining(dangerous));
    expect(away.filter((name) => ![...dangerous, ...perhaps].includes(name))).toEqual([]);
    for (const name of away) expect(reported).toContain(name.split('/')[0]);
    expect(hostGit(`${top}/copy`, 'log', '-1', '--format=%s')).toBe('agent\n');
    hostGit(`${top}/copy`, 'fsck');
  });
});

describe('a template with editor settings that makes a repository', () => {
  const files = {
    'package.json': '{ "name": "app" }',
    'src/index.js': 'export {};',
    '.gitignore': 'node_modules',
    '.vscode/extensions.json': '{ "recommendations": [] }',
    '.vscode/launch.json': '{ "version": "0.2.0" }',
  };
  const write = Object.entries(files).map(([name, text]) => `mkdir -p $(dirname ${name}) && echo '${text}' > ${name}`);
  const commit = ['git init -q -b main', 'git add -A', 'git commit -qm init'];

  test.each([['repository first', 'folder', ['mkdir app && cd app', 'git init -q -b main', ...write, ...commit]]])(
    '%s',
    async (_, workspace, lines) => {
      const { told: reported, out } = await succeed(workspace, [
        ...lines,
        'git status --porcelain',
        'cat .vscode/launch.json',
      ]);
      expect(out.slice(-2)).toEqual(['', files['.vscode/launch.json']]);
      expect(reported).toContain('.vscode');
      const app = root.at(`${workspace}/app`);
      expect(Object.keys(files).filter((name) => existsSync(`${app}/${name}`))).toEqual([
        'package.json',
        'src/index.js',
        '.gitignore',
      ]);
      expect(hostGit(app, 'ls-tree', '-r', '--name-only', 'HEAD').trim().split('\n').sort()).toEqual(
        Object.keys(files).sort(),
      );
    },
  );
});

describe('branches that change or delete control files', () => {
  test('switched back and forth', async () => {
    const there = ['feature', 'plain', 'side', 'feature', 'main', 'plain', 'main'];
    const lines = there.flatMap((branch) => [
      `git checkout -q ${branch}`,
      'git status --porcelain; cat .vscode/* .claude/* || true',
    ]);
    const { out, told: reported } = await succeed('back', lines);
    const shown = (branch: string) =>
      ['.vscode', '.claude']
        .map((name) => showAll(root.at('back'), branch, name))
        .join('')
        .trim();
    expect(out.filter((_, index) => index % 2 === 1)).toEqual(there.map(shown));
    // The last branch is the person's own: nothing is refused any more.
    expect(reported).toBe('');
    expect(unchanged('back')).toEqual([]);
    // Back on the person's branch, the person's own settings are what git expects.
    expect(hostGit(root.at('back'), 'status', '--porcelain')).toBe('');
  });

  test('merged', async () => {
    const lines = [
      'git merge -q --no-edit feature',
      'git merge -q --no-edit side',
      'git merge -q --no-edit plain || git rm -rqf .vscode .claude && git commit -qm gone',
    ];
    const { told: reported } = await succeed('merge', [
      ...lines,
      'git status --porcelain',
      // The directories themselves stay, empty: nothing can hide them.
      '! find .vscode .claude -type f | grep .',
    ]);
    expect(reported).toMatch(/\.vscode/);
    expect(unchanged('merge')).toEqual([]);
  });

  test('stashed and restored', async () => {
    const lines = [
      'echo "{ 1 }" > .vscode/settings.json && echo more >> src/a.txt',
      'git stash -q',
      'cat .vscode/settings.json',
      'git stash pop -q',
      'cat .vscode/settings.json',
    ];
    const { out, told: reported } = await succeed('stash', lines);
    expect([out[2], out[4]]).toEqual([trackedControls['.vscode/settings.json'].trim(), '{ 1 }']);
    expect(reported).toContain('.vscode');
    expect(unchanged('stash')).toEqual([]);
    expect(readFileSync(root.at('stash/src/a.txt'), 'utf8')).toBe('a\nmore\n');
  });

  test('rebased', async () => {
    const { out, told: reported } = await succeed('rebase', [
      'git checkout -q feature',
      'git rebase -q main',
      'git rebase -q side',
      'cat .vscode/settings.json .claude/settings.json',
    ]);
    expect(out.at(-1)).toBe('{ "editor.tabSize": 4 }\n{ "model": "two" }');
    expect(reported).toContain('.vscode');
    expect(unchanged('rebase')).toEqual([]);
  });
});

test('a command with nothing withheld reports nothing', async () => {
  const { told: reported } = await succeed('told', [
    'git checkout -q conflict',
    'git checkout -q main',
    'echo x > src/x.txt',
    'git add .',
    'git commit -qm x',
    'git gc -q',
  ]);
  expect(reported).toBe('');
});

test('the person sees the withheld files, and accepts them with git', async () => {
  const top = root.at('person');
  await succeed('person', ['git checkout -q feature']);
  const status = hostGit(top, 'status', '--porcelain').trimEnd().split('\n');
  expect(status).toEqual([' M .mcp.json', ' M .vscode/settings.json', ' D .vscode/tasks.json']);
  hostGit(top, 'restore', '.vscode', '.mcp.json');
  expect(hostGit(top, 'status', '--porcelain')).toBe('');
});

function showAll(top: string, branch: string, directory: string): string {
  const listed = hostGit(top, 'ls-tree', '-r', '--name-only', branch, `${directory}/`).split('\n').filter(Boolean);
  return listed.map((name) => hostGit(top, 'show', `${branch}:${name}`)).join('');
}
