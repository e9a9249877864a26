import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { shellIn } from '../contracts/sandbox.ts';
import { makeDirectory } from '../harness.ts';
import { openSandbox } from '../open-sandbox.ts';

const build = makeDirectory();
afterAll(() => build[Symbol.dispose]());

/** Tells what the init would hold, as `path` or `path@` for a link, each with a NUL behind it. */
const finderMain = `#include <stdio.h>
#include <stdlib.h>
#include "control-files.h"
int main(int count, char **arguments) {
  int result = count == 2 ? control_files_find(arguments[1]) : -1;
  for (int i = 0; i < pin_count; i++) {
    printf("%s%s%c", pins[i].path, pins[i].is_link ? "@" : "", 0);
    free(pins[i].path);
  }
  return result == 0 ? 0 : 1;
}`;
const missing = compileFinder();
if (missing !== undefined) console.warn(`SKIPPED the hostile trees: ${missing}`);

/** What keeps us from it, if anything does. */
function compileFinder(): string | undefined {
  const native = join(import.meta.dirname, '../../native');
  const sanitize = ['-O1', '-g', '-fsanitize=address,undefined', '-fno-sanitize-recover=all'];
  const probe = spawnSync('cc', [...sanitize, '-x', 'c', '-', '-o', build.at('probe')], {
    input: 'int main(void) { return 0; }',
  });
  if (probe.status !== 0 || spawnSync(build.at('probe')).status !== 0) return 'no compiler with sanitizers';
  const sources = ['control-files.c', 'control-links.c', 'control-git.c', 'git-settings.c'].map((name) =>
    join(native, name),
  );
  writeFileSync(build.at('main.c'), finderMain);
  const argv = [...sanitize, `-I${native}`, build.at('main.c'), ...sources, '-o', build.at('finder')];
  const { status, stderr } = spawnSync('cc', argv, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return undefined;
}

function find(root: string) {
  const { status, signal, stdout, stderr } = spawnSync(build.at('finder'), [root], {
    encoding: 'latin1',
    timeout: 100_000,
  });
  expect({ signal, reports: /ERROR|runtime error/.exec(stderr) }).toEqual({ signal: null, reports: null });
  const held = stdout.split('\0').filter((path) => path !== '');
  return { status, held, complaints: stderr };
}

function makeTree(files: Readonly<Record<string, string>> = {}) {
  const ground = makeDirectory();
  onTestFinished(() => ground[Symbol.dispose]());
  const root = realpathSync(ground.path);
  const at = (name: string) => join(root, name);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), content);
  }
  return { root, at };
}

function makeRepository(files: Readonly<Record<string, string>> = {}) {
  const tree = makeTree(files);
  git(tree.root, 'init', '-q');
  return tree;
}

/** As it is outside, with no settings but those of the tree. */
const outside = { PATH: process.env.PATH, HOME: build.path, GIT_CONFIG_NOSYSTEM: '1' };
const git = (directory: string, ...argv: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...argv], {
    cwd: directory,
    env: outside,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });

describe('what one sandbox does to the tree does not free the control files of the next', () => {
  test('a workspace that looks like a git directory', async () => {
    const files = { '.envrc': 'mine', '.vscode/tasks.json': 'mine', 'logs/.envrc': 'mine', 'info/.envrc': 'mine' };
    const { root, at } = makeRepository(files);
    await shellIn(await openSandbox(root), 'echo ref: refs/heads/main > HEAD; mkdir objects refs');
    const sandbox = await openSandbox(root);
    for (const name of Object.keys(files)) await shellIn(sandbox, `echo evil > ${name}`);
    for (const name of Object.keys(files)) expect(readFileSync(at(name), 'utf8'), name).toBe('mine');
  });

  test.each(['000', '300', '400', '500', '600'])('a directory that nobody may look into: mode %s', async (mode) => {
    const { root, at } = makeRepository({ 'sub/.envrc': 'mine' });
    await shellIn(await openSandbox(root), `chmod ${mode} .git sub`);
    const sandbox = await openSandbox(root);
    const attack = 'echo evil > .git/hooks/post-commit; echo evil > sub/.envrc; echo evil > .git/config';
    await shellIn(sandbox, `chmod 755 .git sub; ${attack}`);
    chmodSync(at('.git'), 0o755);
    chmodSync(at('sub'), 0o755);
    expect(existsSync(at('.git/hooks/post-commit'))).toBe(false);
    expect(readFileSync(at('sub/.envrc'), 'utf8')).toBe('mine');
    expect(readFileSync(at('.git/config'), 'utf8')).not.toContain('evil');
  });

  test('a repository in which nothing can be made opens, and stays as it is', async () => {
    const { root, at } = makeRepository();
    rmSync(at('.git/hooks'), { recursive: true, force: true });
    chmodSync(at('.git'), 0o555);
    const sandbox = await openSandbox(root);
    await shellIn(sandbox, 'chmod 755 .git; mkdir .git/hooks; echo evil > .git/hooks/post-commit');
    expect(existsSync(at('.git/hooks'))).toBe(false);
  });
});

describe('what git would obey as soon as it is there cannot come', () => {
  const evil = '"[croft]\\nevil = yes\\n"';
  const isObeyed = (directory: string) =>
    spawnSync('git', ['config', '--get', 'croft.evil'], { cwd: directory, env: outside }).status === 0;

  test('settings where there were none', async () => {
    const { root, at } = makeRepository();
    rmSync(at('.git/config'));
    await shellIn(await openSandbox(root), `printf ${evil} > .git/config`);
    expect(isObeyed(root)).toBe(false);
  });

  test('settings that are included if they are there', async () => {
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

  test('hooks where the settings say, when nothing is there', async () => {
    const { root, at } = makeRepository();
    git(root, 'config', 'core.hooksPath', 'tools/hooks');
    await shellIn(await openSandbox(root), 'mkdir -p tools/hooks; echo evil > tools/hooks/post-commit');
    expect(existsSync(at('tools/hooks/post-commit'))).toBe(false);
  });

  test('what a control file leads to, when nothing is there', async () => {
    const { root, at } = makeTree();
    symlinkSync('later/mcp.json', at('.mcp.json'));
    await shellIn(await openSandbox(root), 'mkdir -p later; echo evil > later/mcp.json');
    expect(readFileSync(at('.mcp.json'), 'utf8')).not.toContain('evil');
  });
});

describe.skipIf(missing)('hooks are held for each working tree', () => {
  test('a linked one', () => {
    const { root } = makeRepository({ 'hooks/pre-commit': '' });
    git(root, 'add', '.');
    git(root, 'commit', '-qm', 'one');
    git(root, 'config', 'core.hooksPath', 'hooks');
    git(root, 'worktree', 'add', '-q', 'linked');
    expect(find(root).held).toEqual(expect.arrayContaining(['/hooks', '/linked/hooks', '/linked/.git']));
  });

  test('one whose git directory is elsewhere', () => {
    const { root, at } = makeTree({ 'tree/hooks/pre-commit': '' });
    git(at('tree'), 'init', '-q', '--separate-git-dir', at('elsewhere'));
    git(at('tree'), 'config', 'core.hooksPath', 'hooks');
    expect(find(root).held).toEqual(expect.arrayContaining(['/tree/hooks', '/elsewhere/config']));
  });

  test.each(['before', 'after'])('one that is set, %s the hooks are', (order) => {
    const { root, at } = makeRepository({ 'tree/hooks/pre-commit': '' });
    const lines = ['worktree = ../tree', 'hooksPath = hooks'];
    writeFileSync(at('.git/config'), `[core]\n${(order === 'before' ? lines : lines.toReversed()).join('\n')}\n`);
    expect(find(root).held).toContain('/tree/hooks');
  });

  test.each(['//ROOT/conf/x', '/./ROOT/conf/x', 'ROOT/../NAME/conf/x', '../NAME/conf/x', 'conf/../conf/./x'])(
    'a link that leads there in a roundabout way: %s',
    (target) => {
      const { root, at } = makeTree({ 'conf/x': '{}' });
      const name = root.slice(root.lastIndexOf('/') + 1);
      symlinkSync(target.replace('/ROOT', root).replace('ROOT', root).replace('NAME', name), at('.mcp.json'));
      expect(realpathSync(at('.mcp.json'))).toBe(at('conf/x'));
      expect(find(root).held).toEqual(['/.mcp.json@', '/conf/x']);
    },
  );
});

// --- settings as git reads them ---

/** One way to write a value down that git reads as the same. */
function writeValue(value: string, choices: readonly number[]): string {
  let [text, isQuoted] = ['', false];
  for (const [index, byte] of [...value].entries()) {
    const choice = choices[index % choices.length];
    if (choice === 1) text += '""';
    if (choice === 2) text += '\\\n';
    if (choice === 3) {
      text += '"';
      isQuoted = !isQuoted;
    }
    text += byte;
  }
  return isQuoted ? `${text}"` : text;
}

const gap = fc.constantFrom('', ' ', '\t', '  \t ');
const headers = {
  hooks: ['[core]', '[CORE]', '[core]\n', '[core] # ]\n', '[x "a]b=\\"c"][core]', '[core ]'],
  include: ['[include]', '[InClude]\r\n', '[includeIf "gitdir:**"]', '[includeIf "gitdir:**"] ; "\n', '[x][include]'],
};
const setting = fc.oneof(
  fc.record({
    header: fc.constantFrom(...headers.hooks),
    name: fc.constantFrom('hooksPath', 'HOOKSPATH', 'hookspath'),
    value: fc.constantFrom('hooks-1', './hooks-2', 'deep/hooks 3', 'hooks-4/../hooks-5', 'ROOT/hooks-6'),
  }),
  fc.record({
    header: fc.constantFrom(...headers.include),
    name: fc.constantFrom('path', 'Path'),
    value: fc.constantFrom('one', '../two', './../sub/three', 'ROOT/four'),
  }),
);
const choices = fc.array(fc.integer({ min: 0, max: 8 }), { minLength: 1, maxLength: 12 });
const end = fc.constantFrom('\n', '\r\n', ' \n', ' # "comment\\\n', ';c\n', '\t\n\n');
const line = fc
  .tuple(setting, gap, gap, gap, choices, end)
  .map(([{ header, name, value }, a, b, c, how, last]) => [header, a, name, b, '=', c, how, value, last] as const);
const noise = fc.constantFrom(
  '[core]\nbare\n',
  '# [include] path = no\n',
  '[alias]\nx = "!f() { echo ]; }; f"\n',
  '[x "y"]\n\n',
  `[pad]\nx = ${'a'.repeat(5000)}\n`,
  `${' '.repeat(4090)}[core]\n`,
);
const settingsText = (root: string) =>
  fc
    .tuple(fc.constantFrom('', '\ufeff'), fc.array(fc.oneof({ weight: 4, arbitrary: line }, noise), { maxLength: 5 }))
    .map(
      ([mark, lines]) => mark + lines.map((part) => (typeof part === 'string' ? part : writeLine(part, root))).join(''),
    );

function writeLine(
  [header, a, name, b, equals, c, how, value, last]: readonly (string | readonly number[])[],
  root: string,
) {
  const written = writeValue((value as string).replace('ROOT', root), how as number[]);
  return [header, a, name, b, equals, c, written, last].join('');
}

/** What git obeys: the files it read, and where it would look for hooks. Nothing if it refuses to read them. */
function askGit(root: string): string[] | undefined {
  const { status, stdout } = spawnSync('git', ['config', '--list', '--includes', '--show-origin', '-z'], {
    cwd: root,
    env: outside,
    encoding: 'utf8',
  });
  if (status !== 0) return undefined;
  const words = stdout.split('\0');
  const places = words.flatMap((word, index) => {
    if (index % 2 === 0) return word.startsWith('file:') ? [word.slice('file:'.length)] : [];
    return word.startsWith('core.hookspath\n') ? [word.slice('core.hookspath\n'.length)] : [];
  });
  return places.map((place) => resolve(root, place)).filter((place) => place.startsWith(`${root}/`));
}

test.skipIf(missing)(
  'whatever git obeys is held',
  () => {
    const { root, at } = makeRepository();
    let asked = 0;
    const files = ['.git/config', '.git/one', 'two', 'sub/three', 'four'];
    mkdirSync(at('sub'));
    fc.assert(
      fc.property(fc.tuple(...files.map(() => settingsText(root))), (texts) => {
        for (const [index, name] of files.entries()) writeFileSync(at(name), texts[index]!);
        const obeyed = askGit(root);
        if (!obeyed) return;
        asked++;
        const { held, status } = find(root);
        expect(status).toBe(0);
        const isHeld = (path: string) => held.some((pin) => `${path}/`.startsWith(`${root}${pin}/`));
        expect(obeyed.filter((path) => !isHeld(path))).toEqual([]);
      }),
      { numRuns: 60, interruptAfterTimeLimit: 6000, endOnFailure: true },
    );
    // Files that include each other are refused by git, but most are not such.
    expect(asked).toBeGreaterThan(10);
  },
  30_000,
);

// --- trees that nobody would make ---

const name = fc.oneof(
  fc.constantFrom('.git', 'HEAD', 'objects', 'config', 'hooks', 'commondir', 'gitdir', 'info', 'modules', 'worktrees'),
  fc.constantFrom('.envrc', '.vscode', '.mcp.json', 'node_modules', 'a', 'b', '\n', '@', 'x'.repeat(255)),
);
const path = fc.array(name, { minLength: 1, maxLength: 20 }).map((names) => names.join('/'));
const target = fc.oneof(
  path,
  path.map((to) => `ROOT/${to}`),
  fc.constantFrom('.', '..', '/', 'ROOT', '/dev/zero', '/proc/self/fd/0', 'a/'.repeat(2000), '../'.repeat(1300), '~/a'),
);
const content = fc.oneof(
  target.map((to) => `gitdir: ${to}\n`),
  target,
  target.map((to) => `[include]path=${to}\n[core]hooksPath=${to}\nworktree=${to}\n`),
  fc.string({
    unit: fc.constantFrom('[', ']', '"', '\\', '\n', '\r', '=', '#', 'core', 'hooksPath', 'path', '\0', ' '),
  }),
  fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
);
const deed = fc.oneof(
  fc.record({ path, mode: fc.constantFrom(0o755, 0, 0o444, 0o111) }),
  fc.record({ path, content }),
  fc.record({ path, target }),
);

function perform(
  root: string,
  { path: at, ...rest }: { path: string; content?: string; target?: string; mode?: number },
) {
  const whole = join(root, at);
  try {
    mkdirSync(rest.mode === undefined ? dirname(whole) : whole, { recursive: true });
    if (rest.mode !== undefined) chmodSync(whole, rest.mode);
    if (rest.target !== undefined) symlinkSync(rest.target.replace('ROOT', root), whole);
    if (rest.content !== undefined) writeFileSync(whole, rest.content.replace('ROOT', root), { flag: 'wx' });
  } catch {
    // Something else is there already.
  }
}

test.skipIf(missing)(
  'no tree breaks the search, and nothing outside it is held',
  () => {
    fc.assert(
      fc.property(fc.array(deed, { minLength: 1, maxLength: 40, size: 'max' }), (deeds) => {
        using ground = makeDirectory();
        const root = realpathSync(ground.path);
        for (const each of deeds) perform(root, each);
        const { held } = find(root);
        expect(held.filter((pin) => !pin.startsWith('/') || pin.split('/').includes('..'))).toEqual([]);
        expect(new Set(held).size).toBe(held.length);
      }),
      { numRuns: 60, interruptAfterTimeLimit: 6000, endOnFailure: true },
    );
  },
  30_000,
);

test.skipIf(missing)('a repository inside another cannot have anything put into that one', () => {
  const evil = '[include]\npath = ../.git/MERGE_HEAD\npath = ../.git/sub/x\n[core]\nhooksPath = ../.git/rebase-merge\n';
  const { root, at } = makeRepository({ 'bare/HEAD': 'ref: x\n', 'bare/objects/x': '', 'bare/config': evil });
  symlinkSync('.git/CHERRY_PICK_HEAD', at('.mcp.json'));
  expect(find(root).status).toBe(0);
  const made = ['MERGE_HEAD', 'sub', 'rebase-merge', 'CHERRY_PICK_HEAD'].filter((name) =>
    existsSync(at(`.git/${name}`)),
  );
  expect(made).toEqual([]);
});

describe.skipIf(missing)('what never ends is not read to its end', () => {
  test('files that include each other many times over', () => {
    const { root, at } = makeRepository({
      a: '[include]\npath = b\n'.repeat(500),
      b: '[include]\npath = a\n'.repeat(500),
    });
    git(root, 'config', 'include.path', '../a');
    expect(find(root)).toMatchObject({ status: 1, complaints: expect.stringContaining(at('')) });
  });

  test.each(['/dev/zero', '/dev/stdin', '/proc/self/mem'])('settings behind a link to %s', (target) => {
    const { root, at } = makeRepository();
    rmSync(at('.git/config'));
    symlinkSync(target, at('.git/config'));
    expect(find(root).status).toBe(0);
  });

  test('settings that are a pipe, or far too long', () => {
    const { root, at } = makeRepository({ 'two/.git/HEAD': '', 'two/.git/config': '' });
    rmSync(at('.git/config'));
    execFileSync('mkfifo', [at('.git/config')]);
    truncateSync(at('two/.git/config'), 2 ** 40);
    expect(find(root)).toMatchObject({ status: 0, held: expect.arrayContaining(['/.git/config', '/two/.git/config']) });
  });
});
