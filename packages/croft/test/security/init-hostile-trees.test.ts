import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { makeDirectory } from '../support/harness.ts';
import { native } from '../support/sandboxes/native-sources.ts';
import { settingsText } from './git-settings.ts';
import { build, git, makeRepository, makeTree, outside } from './hostile-trees-fixture.ts';

/** Tells what the init would hold, as `path` or `path@` for a link, each with a NUL behind it. */
const finderMain = `#include <stdio.h>
#include <stdlib.h>
#include "init/control-files/find-control-files.h"
int main(int count, char **arguments) {
  int result = count == 2 ? control_files_find(arguments[1]) : -1;
  for (int i = 0; i < guarded_file_count; i++) {
    printf("%s%s%c", guarded_files[i].path, guarded_files[i].is_link ? "@" : "", 0);
    free(guarded_files[i].path);
  }
  for (int i = 0; i < found_repositories.count; i++) {
    printf("+%s/config%c+%s/hooks%c", found_repositories.paths[i], 0, found_repositories.paths[i], 0);
    free(found_repositories.paths[i]);
  }
  for (int i = 0; i < found_copies.count; i++) {
    printf("%s%c", found_copies.paths[i], 0);
    free(found_copies.paths[i]);
  }
  return result == 0 ? 0 : 1;
}`;
const missing = compileFinder();
if (missing !== undefined) console.warn(`SKIPPED the hostile trees: ${missing}`);

/** The reason to skip, if there is one. */
function compileFinder(): string | undefined {
  const sanitize = ['-O1', '-g', '-fsanitize=address,undefined', '-fno-sanitize-recover=all'];
  const probe = spawnSync('cc', [...sanitize, '-x', 'c', '-', '-o', build.at('probe')], {
    input: 'int main(void) { return 0; }',
  });
  if (probe.status !== 0 || spawnSync(build.at('probe')).status !== 0) return 'no compiler with sanitizers';
  const sources = [
    ...['find-control-files.c', 'control-file-links.c', 'git-control-files.c', 'control-names.c'],
    ...['read-git-settings.c', 'parallel-search.c'],
  ].map((name) => join(native, 'init/control-files', name));
  writeFileSync(build.at('main.c'), finderMain);
  // One searches even small trees with several threads, the other with one.
  for (const [name, setting] of [['finder', '-DALONE=1'] as const, ['finder-alone', '-DMOST_HELPERS=0'] as const]) {
    const argv = [...sanitize, setting, '-iquote', native, build.at('main.c'), ...sources, '-o', build.at(name)];
    const { status, stderr } = spawnSync('cc', argv, { encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
  }
  return undefined;
}

function find(root: string, finder = 'finder') {
  const { status, signal, stdout, stderr } = spawnSync(build.at(finder), [root], {
    encoding: 'latin1',
    timeout: 100_000,
  });
  expect({ signal, reports: /ERROR|runtime error/.exec(stderr) }).toEqual({ signal: null, reports: null });
  const words = stdout.split('\0').filter((path) => path !== '');
  // A file of a repository may also be the target of a setting.
  const ofRepositories = new Set(words.filter((word) => word.startsWith('+')).map((word) => word.slice(1)));
  const others = words.filter((word) => !word.startsWith('+') && !ofRepositories.has(word));
  const held = [...others, ...ofRepositories];
  return { status, held, complaints: stderr };
}

describe.skipIf(missing)('hooks are guarded for each working tree', () => {
  test('of a linked worktree', () => {
    const { root } = makeRepository({ 'hooks/pre-commit': '' });
    git(root, 'add', '.');
    git(root, 'commit', '-qm', 'one');
    git(root, 'config', 'core.hooksPath', 'hooks');
    git(root, 'worktree', 'add', '-q', 'linked');
    expect(find(root).held).toEqual(expect.arrayContaining(['/hooks', '/linked/hooks']));
  });

  test('whose git directory is elsewhere', () => {
    const { root, at } = makeTree({ 'tree/hooks/pre-commit': '' });
    git(at('tree'), 'init', '-q', '--separate-git-dir', at('elsewhere'));
    git(at('tree'), 'config', 'core.hooksPath', 'hooks');
    expect(find(root).held).toEqual(expect.arrayContaining(['/tree/hooks', '/elsewhere/config']));
  });

  test.each(['before', 'after'])('with a configured path, %s the hooks are', (order) => {
    const { root, at } = makeRepository({ 'tree/hooks/pre-commit': '' });
    const lines = ['worktree = ../tree', 'hooksPath = hooks'];
    writeFileSync(at('.git/config'), `[core]\n${(order === 'before' ? lines : lines.toReversed()).join('\n')}\n`);
    expect(find(root).held).toContain('/tree/hooks');
  });

  test.each(['//ROOT/conf/x', '/./ROOT/conf/x', 'ROOT/../NAME/conf/x', '../NAME/conf/x', 'conf/../conf/./x'])(
    'through a link that leads there in a roundabout way: %s',
    (target) => {
      const { root, at } = makeTree({ 'conf/x': '{}' });
      const name = root.slice(root.lastIndexOf('/') + 1);
      symlinkSync(target.replace('/ROOT', root).replace('ROOT', root).replace('NAME', name), at('.mcp.json'));
      expect(realpathSync(at('.mcp.json'))).toBe(at('conf/x'));
      expect(find(root).held).toEqual(['/.mcp.json@', '/conf/x']);
    },
  );
});

/** What git obeys: the files it read, and where it would look for hooks. Nothing if it refuses to read them. */
function askGit(root: string): string[] | undefined {
  const { status, stdout } = spawnSync('git', ['config', '--list', '--includes', '--show-origin', '-z'], {
    cwd: root,
    env: outside,
    encoding: 'utf8',
  });
  if (status !== 0) return undefined;
  const words = stdout.split('\0');
  const targets = words.flatMap((word, index) => {
    if (index % 2 === 0) return word.startsWith('file:') ? [word.slice('file:'.length)] : [];
    return word.startsWith('core.hookspath\n') ? [word.slice('core.hookspath\n'.length)] : [];
  });
  return targets.map((place) => resolve(root, place)).filter((place) => place.startsWith(`${root}/`));
}

test.skipIf(missing)(
  'everything that git obeys is guarded',
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
  'no tree breaks the search, and no file outside the tree is guarded',
  () => {
    fc.assert(
      fc.property(fc.array(deed, { minLength: 1, maxLength: 40, size: 'max' }), (deeds) => {
        using fixture = makeDirectory();
        const root = realpathSync(fixture.path);
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

test.skipIf(missing)('nothing can be added to a repository inside another', () => {
  const evil = '[include]\npath = ../.git/MERGE_HEAD\npath = ../.git/sub/x\n[core]\nhooksPath = ../.git/rebase-merge\n';
  const { root, at } = makeRepository({ 'bare/HEAD': 'ref: x\n', 'bare/objects/x': '', 'bare/config': evil });
  symlinkSync('.git/CHERRY_PICK_HEAD', at('.mcp.json'));
  expect(find(root).status).toBe(0);
  const made = ['MERGE_HEAD', 'sub', 'rebase-merge', 'CHERRY_PICK_HEAD'].filter((name) =>
    existsSync(at(`.git/${name}`)),
  );
  expect(made).toEqual([]);
});

describe.skipIf(missing)('endless settings are not read to their end', () => {
  test('in files that include each other many times over', () => {
    const { root, at } = makeRepository({
      a: '[include]\npath = b\n'.repeat(500),
      b: '[include]\npath = a\n'.repeat(500),
    });
    git(root, 'config', 'include.path', '../a');
    expect(find(root)).toMatchObject({ status: 1, complaints: expect.stringContaining(at('')) });
  });

  test.each(['/dev/zero', '/dev/stdin', '/proc/self/mem'])('behind a link to %s', (target) => {
    const { root, at } = makeRepository();
    rmSync(at('.git/config'));
    symlinkSync(target, at('.git/config'));
    expect(find(root).status).toBe(0);
  });

  test('in a pipe, or far too long', () => {
    const { root, at } = makeRepository({ 'two/.git/HEAD': '', 'two/.git/config': '' });
    rmSync(at('.git/config'));
    execFileSync('mkfifo', [at('.git/config')]);
    truncateSync(at('two/.git/config'), 2 ** 40);
    expect(find(root)).toMatchObject({ status: 0, held: expect.arrayContaining(['/.git/config', '/two/.git/config']) });
  });
});

test.skipIf(missing)(
  'of more repositories than can be held by mounts, the own one is always found, and none is an error',
  () => {
    const { root, at } = makeRepository();
    for (let index = 0; index < 2100; index++)
      for (const name of ['.git', '.vscode']) mkdirSync(at(`r${index}/${name}`), { recursive: true });
    const { status, held } = find(root);
    expect(status).toBe(0);
    expect(held).toContain('/.git/config');
  },
);

test.skipIf(missing)('several threads find in a large tree what one thread finds', () => {
  const { root, at } = makeTree();
  for (let group = 0; group < 20; group++) {
    for (let part = 0; part < 30; part++) mkdirSync(at(`g${group}/p${part}/deep/er`), { recursive: true });
    const repository = at(`g${group}/p${group}/deep`);
    for (const name of ['.git', '.vscode']) mkdirSync(join(repository, name));
    writeFileSync(join(repository, '.git/config'), `[core]\nhooksPath = ../../../g${19 - group}/p0\n`);
    writeFileSync(join(repository, '.git/config.worktree'), '');
    writeFileSync(at(`g${group}/p3/.git`), `gitdir: ../p${group}/deep/.git\n`);
  }
  const alone = find(root, 'finder-alone');
  expect(alone.held.length).toBeGreaterThanOrEqual(60);
  for (let round = 0; round < 10; round++) {
    const { status, held } = find(root);
    expect({ status, held: held.toSorted() }).toEqual({ status: 0, held: alone.held.toSorted() });
  }
});
