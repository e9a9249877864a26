import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makeDirectory } from '../../../test/support/harness.ts';
import { createDiskFiles } from '../disk-files.ts';
import { openRoot } from '../paths/handles.ts';

const repository = { HEAD: 'ref: x\n', 'objects/x': '', config: '[core]\n', 'hooks/pre-commit': '#!/bin/sh\n' };
const below = (at: string) =>
  Object.fromEntries(Object.entries(repository).map(([name, text]) => [`${at}/${name}`, text]));
const tree = {
  ...below('.git'),
  ...below('deep/er/.git'),
  ...below('bare'),
  '.mcp.json': '{}',
  'a/.vscode/settings.json': '{}',
  'linked/.git': 'gitdir: ../.git/worktrees/linked\n',
  'node_modules/x/.vscode/settings.json': '{}',
  'src/config': 'free',
};
const signal = new AbortController().signal;
const refused = { code: 'E_CONTROL_FILE' };

function open() {
  const directory = makeDirectory();
  onTestFinished(() => directory[Symbol.dispose]());
  for (const [name, text] of Object.entries(tree)) {
    mkdirSync(dirname(directory.at(name)), { recursive: true });
    writeFileSync(directory.at(name), text);
  }
  return {
    root: directory.path,
    files: createDiskFiles({ handle: openRoot(directory.path), names: [directory.path] }),
  };
}

test.each([
  ...[
    '.git/config',
    '.git/hooks/pre-commit',
    '.git/hooks/new',
    '.git/config.worktree',
    'deep/er/.git/hooks/pre-commit',
  ],
  ...[
    'bare/hooks/pre-commit',
    'bare/config',
    '.mcp.json',
    'a/.vscode/settings.json',
    'a/.vscode/new.json',
    'linked/.git',
  ],
])('%s cannot be written, removed or moved', async (name) => {
  const { root, files } = open();
  const before = existsSync(join(root, name)) ? readFileSync(join(root, name), 'utf8') : undefined;
  await expect(files.write(name, Buffer.from('evil'))).rejects.toMatchObject(refused);
  writeFileSync(join(root, 'mine'), 'evil');
  if (before !== undefined) {
    await expect(files.remove(name, { recursive: false, signal })).rejects.toMatchObject(refused);
    await expect(files.rename(name, 'gone')).rejects.toMatchObject(refused);
  } else await expect(files.rename('mine', name)).rejects.toMatchObject(refused);
  expect(existsSync(join(root, name)) ? readFileSync(join(root, name), 'utf8') : undefined).toBe(before);
});

test.each(['.git', 'deep', 'deep/er', 'a', 'linked', '.git/hooks'])(
  '%s cannot be removed with its content',
  async (name) => {
    const { root, files } = open();
    await expect(files.remove(name, { recursive: true, signal })).rejects.toMatchObject(refused);
    await expect(files.rename(name, 'gone')).rejects.toMatchObject(refused);
    for (const [file, text] of Object.entries(tree)) expect(readFileSync(join(root, file), 'utf8')).toBe(text);
  },
);

test('a link to a control file cannot be used to change it', async () => {
  const { root, files } = open();
  symlinkSync('.git/hooks', join(root, 'plain'));
  symlinkSync('.mcp.json', join(root, 'settings'));
  await expect(files.write('plain/pre-commit', Buffer.from('evil'))).rejects.toMatchObject(refused);
  await expect(files.write('settings', Buffer.from('evil'))).rejects.toMatchObject(refused);
  await expect(files.remove('plain/pre-commit', { recursive: false, signal })).rejects.toMatchObject(refused);
  await expect(files.rename('plain/pre-commit', 'gone')).rejects.toMatchObject(refused);
  await files.remove('plain', { recursive: false, signal });
  expect(readFileSync(join(root, '.git/hooks/pre-commit'), 'utf8')).toBe('#!/bin/sh\n');
});

test('a new file may be made, and directories of packages may come and go', async () => {
  const { root, files } = open();
  await files.write('src/config', Buffer.from('changed'));
  await files.write('b/.vscode/settings.json', Buffer.from('{}'));
  await files.write('node_modules/x/.vscode/settings.json', Buffer.from('{"a":1}'));
  await files.remove('node_modules', { recursive: true, signal });
  await files.rename('src', 'moved');
  expect(existsSync(join(root, 'b/.vscode/settings.json'))).toBe(true);
});

test('only the sync of agents may change their definitions, and it may change no other control file', async () => {
  const { root, files } = open();
  const reported = { isSynced: true } as const;
  await files.write('.agents/a.md', Buffer.from('a'), reported);
  await expect(files.write('.agents/a.md', Buffer.from('evil'))).rejects.toMatchObject(refused);
  await files.write('.agents/a.md', Buffer.from('b'), reported);
  await files.write('.agents/b.md', Buffer.from('b'), reported);
  await files.remove('.agents/b.md', { recursive: false, signal, ...reported });
  symlinkSync('../.git/hooks/pre-commit', join(root, '.agents/hook.md'));
  symlinkSync('../.git', join(root, '.agents/git.md'));
  mkdirSync(join(root, 'sub/.agents'), { recursive: true });
  for (const path of [
    ...['.agents/hook.md', '.agents/git.md/config', '.agents/x', '.agents/x/y.md', '.agents/skills/x/SKILL.md'],
    ...['.mcp.json', '.git/hooks/x.md', '.agents/../.mcp.json', 'sub/.agents/x.md', './sub/../.git/config'],
  ]) {
    await expect(files.write(path, Buffer.from('evil'), reported), path).rejects.toMatchObject(refused);
  }
  await expect(files.remove('.agents', { recursive: true, signal, ...reported })).rejects.toMatchObject(refused);
  await expect(files.remove('.mcp.json', { recursive: true, signal, ...reported })).rejects.toMatchObject(refused);
  expect(readFileSync(join(root, '.git/hooks/pre-commit'), 'utf8')).toBe('#!/bin/sh\n');
  expect(readFileSync(join(root, '.agents/a.md'), 'utf8')).toBe('b');
});

describe('a git directory', () => {
  const pieces = ['HEAD', 'objects/x', 'refs/heads/x'];
  const isGit = (root: string, at: string) => pieces.every((name) => existsSync(join(root, at, name)));

  test.each([pieces, pieces.toReversed(), ['objects/x', 'HEAD', 'refs/x/y/z'], ['commondir', 'HEAD']])(
    'cannot be completed by writes of %s, %s',
    async (...names) => {
      const { root, files } = open();
      for (const name of names.slice(0, -1)) await files.write(`new/${name}`, Buffer.from(''));
      const last = `new/${names.at(-1)}`;
      await expect(files.write(last, Buffer.from(''))).rejects.toMatchObject(refused);
      await expect(files.change(last, () => ({ bytes: Buffer.from('') }))).rejects.toMatchObject(refused);
      writeFileSync(join(root, 'mine'), '');
      await expect(files.rename('mine', last)).rejects.toMatchObject(refused);
      const upload = files.upload(last, (async function* () {})(), { maxBytes: 1 });
      await expect(upload).rejects.toMatchObject(refused);
      expect(existsSync(join(root, last))).toBe(false);
    },
  );

  test('cannot be completed by concurrent writes, nor where settings exist already', async () => {
    for (let round = 0; round < 20; round++) {
      const { root, files } = open();
      await files.write('new/config', Buffer.from('[core]\n'));
      await files.write('new/hooks/pre-commit', Buffer.from(''));
      await Promise.allSettled(pieces.map((name) => files.write(`new/${name}`, Buffer.from(''))));
      expect(isGit(root, 'new')).toBe(false);
    }
  });

  test('cannot be made by a rename, cannot be moved, and cannot be moved into place', async () => {
    const { root, files } = open();
    for (const path of ['x/.git', 'x/.git/config', 'x/.git/a/b', 'src/.git/HEAD'])
      await expect(files.write(path, Buffer.from('gitdir: y')), path).rejects.toMatchObject(refused);
    await files.write('plain/config', Buffer.from('[core]\n'));
    await expect(files.rename('plain', 'x/.git')).rejects.toMatchObject(refused);
    await expect(files.rename('bare', 'moved')).rejects.toMatchObject(refused);
    expect([existsSync(join(root, 'x')), existsSync(join(root, 'bare/config'))]).toEqual([false, true]);
  });

  test('is not recognised by similar names alone', async () => {
    const { files } = open();
    for (const path of ['ui/hooks/a.ts', 'ui/config/a.ts', 'ui/objects/a', 'ui/refs/b', 'info/attributes', 'gitdir'])
      await files.write(path, Buffer.from(''));
    await files.write('ui/hooks/b.ts', Buffer.from(''));
  });
});

test('an approval allows exactly its path, and never a git directory', async () => {
  const { files } = open();
  const allow = { paths: ['.vscode/tasks.json', 'bare/config', 'x/.git'] };
  await files.write('.vscode/tasks.json', Buffer.from(''), { allow });
  await files.write('bare/config', Buffer.from(''), { allow });
  for (const path of ['.vscode/settings.json', '.mcp.json', 'x/.git', 'bare/hooks/x'])
    await expect(files.write(path, Buffer.from(''), { allow }), path).rejects.toMatchObject(refused);
  expect(await files.controlFiles?.(['.vscode/a', 'x/.git/config', 'a.txt'])).toEqual([]);
  expect(await files.controlFiles?.(['.vscode/a', 'a.txt'])).toMatchObject([{ path: '.vscode/a' }]);
});

test('a refusal has the rule, the reason and the next step', async () => {
  const { files } = open();
  const text = async (path: string) => files.write(path, Buffer.from('')).catch((thrown) => thrown.text);
  expect(await text('.claude/settings.json')).toMatch(
    /^\.claude\/settings\.json is not changed: .* obeys \.claude\.\nNext: .*--allow-control '\.claude'/,
  );
  expect(await text('.git/hooks/x')).toMatch(
    /git outside the sandbox runs or obeys what \.git\/hooks holds\.\nNext: .*'\.git\/hooks'/,
  );
  expect(await text('.git/gitdir')).toMatch(/\nNext: do without it, or ask the person to change it\.$/);
  expect(await text('x/.git/HEAD')).toMatch(
    /x\/\.git is a git directory, or would become one.*\nNext: use git in a command/,
  );
});

test('hundreds of repositories do not keep anybody from writing', async () => {
  const { root, files } = open();
  for (let index = 0; index < 700; index++) mkdirSync(join(root, `many/r${index}/.git`), { recursive: true });
  await files.write('many/a', Buffer.from(''));
  await expect(files.write('many/r7/.git/config', Buffer.from(''))).rejects.toMatchObject(refused);
});

test.each([
  '.VSCODE/tasks.json',
  'bare/CONFIG',
  'x/.GIT/config',
  'bare/Hooks/x',
  'GIT~1/config',
  'node.CODE-workspace',
])('a directory that ignores case takes %s for a control file', async (path) => {
  const { files } = open();
  await expect(files.write(path, Buffer.from(''))).rejects.toMatchObject(refused);
  await files.write('src/CONFIG', Buffer.from(''));
});
