import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makeDirectory } from '../support/harness.ts';
import { openForksFixture, signal, text } from './forks-fixture.ts';
import { canOverlay, kinds, mountsIn } from './layers-fixture.ts';

function listAll(directory: string): string {
  const { stdout } = spawnSync('find', ['.', '-printf', '%P|%y|%m|%l|%U\\n'], { cwd: directory, encoding: 'utf8' });
  return stdout.split('\n').sort().join('\n');
}

describe.each(kinds)('a fork (%s)', (kind) => {
  const options = { kinds: [kind] };

  test('starts as the workspace is, with .git and ignored files, and changes separately', async () => {
    const { workspace, server, fork } = openForksFixture(
      { a: 'a', 'sub/b': 'b', '.gitignore': 'built\n', built: 'x', '.git/HEAD': 'ref' },
      options,
    );
    symlinkSync('/etc/passwd', workspace.at('out'));
    chmodSync(workspace.at('a'), 0o755);
    const made = await fork('try');
    expect(made).toMatchObject({ name: 'try', parent: 'main' });
    const path = server.pathOf('try');
    expect(listAll(path)).toBe(listAll(workspace.path));
    expect(readlinkSync(join(path, 'out'))).toBe('/etc/passwd');
    writeFileSync(join(path, 'a'), 'changed there');
    rmSync(join(path, 'sub'), { recursive: true });
    writeFileSync(workspace.at('built'), 'changed here');
    expect(text(workspace.at('a'))).toBe('a');
    expect(text(workspace.at('sub/b'))).toBe('b');
    expect(text(join(path, 'built'))).toBe('x');
  });

  test('later forks have the changes since the first: written, removed, moved, replaced', async () => {
    const { workspace, server, fork } = openForksFixture(
      {
        same: '1',
        change: '2',
        gone: '3',
        'dir/x': '4',
        'dir/y': '5',
        'file-to-dir': '6',
        'dir-to-file/z': '7',
        'a/1': '8',
      },
      options,
    );
    await fork('first');
    writeFileSync(workspace.at('change'), 'changed');
    rmSync(workspace.at('gone'));
    renameSync(workspace.at('dir'), workspace.at('moved'));
    rmSync(workspace.at('file-to-dir'));
    mkdirSync(workspace.at('file-to-dir/deep'), { recursive: true });
    writeFileSync(workspace.at('file-to-dir/deep/f'), 'f');
    rmSync(workspace.at('dir-to-file'), { recursive: true });
    writeFileSync(workspace.at('dir-to-file'), 'now a file');
    rmSync(workspace.at('a'), { recursive: true });
    symlinkSync('moved', workspace.at('a'));
    chmodSync(workspace.at('same'), 0o600);
    await fork('second');
    expect(listAll(server.pathOf('second'))).toBe(listAll(workspace.path));
    expect(text(join(server.pathOf('second'), 'change'))).toBe('changed');
    expect(text(join(server.pathOf('first'), 'change'))).toBe('2');
    writeFileSync(workspace.at('moved/x'), 'once more');
    await fork('third');
    expect(text(join(server.pathOf('third'), 'moved/x'))).toBe('once more');
    expect(text(join(server.pathOf('second'), 'moved/x'))).toBe('4');
  });

  test('starts from a snapshot, with everything that snapshots leave out taken from the workspace', async () => {
    const { workspace, server, fork } = openForksFixture(
      { a: 'old', b: 'b', '.gitignore': 'built\n', built: 'x' },
      options,
    );
    await server.historyOf('main').snapshot({ name: 'then', signal });
    writeFileSync(workspace.at('a'), 'new');
    rmSync(workspace.at('b'));
    writeFileSync(workspace.at('c'), 'c');
    await fork('back', 'then');
    const path = server.pathOf('back');
    expect(readdirSync(path).sort()).toEqual(['.gitignore', 'a', 'b', 'built']);
    expect(text(join(path, 'a'))).toBe('old');
    expect(text(workspace.at('a'))).toBe('new');
    await expect(fork('other', 'never')).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
    expect(server.set.names).toEqual(['back', 'main']);
  });

  test('is there again after a restart, and is removed with everything in it', async () => {
    const { workspace, data, server, start, fork } = openForksFixture({ a: 'a' }, options);
    await fork('kept');
    writeFileSync(join(server.pathOf('kept'), 'mine'), 'mine');
    await server.stop();
    expect(mountsIn(data.path)).toEqual([]);
    const next = start();
    expect(next.warnings).toEqual([]);
    expect(next.set.names).toEqual(['kept', 'main']);
    expect(text(join(next.pathOf('kept'), 'mine'))).toBe('mine');
    expect(text(join(next.pathOf('kept'), 'a'))).toBe('a');
    writeFileSync(workspace.at('a'), 'changed while nobody followed');
    await next.of('main').fork({ name: 'later', session: 's', signal });
    expect(text(join(next.pathOf('later'), 'a'))).toBe('changed while nobody followed');
    await next.of('main').remove('kept');
    expect(next.set.names).toEqual(['later', 'main']);
    await next.of('main').remove('later');
    expect(mountsIn(data.path)).toEqual([]);
    expect(readdirSync(data.at('forks'))).toEqual([]);
    expect(text(workspace.at('a'))).toBe('changed while nobody followed');
  });

  test('of a fork is a fork too, and each has its own files, whichever server made them', async () => {
    const { server, fork, start } = openForksFixture({ a: 'a' }, options);
    const namesOf = async (name: string) => (await server.of(name).list()).map((each) => each.name);
    await fork('one');
    writeFileSync(join(server.pathOf('one'), 'b'), 'b');
    await server.of('one').fork({ name: 'two', session: 's', signal });
    expect(readdirSync(server.pathOf('two')).sort()).toEqual(['a', 'b']);
    for (let times = 0; times < 2; times++) expect(await namesOf('main')).toEqual(['one']);
    const other = start();
    await other.of('main').fork({ name: 'three', session: 's', signal });
    await other.of('one').fork({ name: 'four', session: 's', signal });
    expect((await namesOf('main')).sort()).toEqual(['one', 'three']);
    expect((await namesOf('one')).sort()).toEqual(['four', 'two']);
    await server.stop();
    expect(start().set.names).toEqual(['four', 'main', 'one', 'three', 'two']);
  });

  test('names are names of workspaces, and unique', async () => {
    const { server, fork, data } = openForksFixture({ a: 'a' }, options);
    await fork('one');
    for (const name of ['one', 'main']) await expect(fork(name)).rejects.toMatchObject({ code: 'E_ALREADY_EXISTS' });
    for (const name of ['', 'all', '../x', 'a/b', '.x', 'x'.repeat(64), 'a\nb'])
      await expect(fork(name)).rejects.toMatchObject({ code: 'E_INVALID_INPUT' });
    expect(readdirSync(data.at('forks'))).toHaveLength(1);
    expect(server.set.names).toEqual(['main', 'one']);
    await expect(server.of('main').remove('nobody')).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  });

  test('has its own id, so that no approval for the other workspace holds there', async () => {
    const { server, fork } = openForksFixture({ a: 'a' }, options);
    const { workspaceId } = await fork('one');
    expect(server.set.pick('one').id).toBe(workspaceId);
    expect(server.set.pick('one').id).not.toBe(server.set.pick('main').id);
  });

  test('links that change places do not lead outside while a fork is made', async () => {
    const { workspace, server, fork } = openForksFixture({ 'd/f': 'f', 'e/f': 'e' }, options);
    const outside = makeDirectory({ f: 'outside' });
    onTestFinished(() => outside[Symbol.dispose]());
    await fork('first');
    rmSync(workspace.at('d'), { recursive: true });
    symlinkSync(outside.path, workspace.at('d'));
    await fork('second');
    expect(lstatSync(join(server.pathOf('second'), 'd')).isSymbolicLink()).toBe(true);
    rmSync(workspace.at('d'));
    mkdirSync(workspace.at('d'));
    writeFileSync(workspace.at('d/f'), 'inside again');
    await fork('third');
    expect(text(join(server.pathOf('third'), 'd/f'))).toBe('inside again');
    expect(text(outside.at('f'))).toBe('outside');
  });
});

describe.runIf(canOverlay)('killed in the middle', () => {
  test('an unfinished fork is removed with its mount', async () => {
    const { workspace, data, start } = openForksFixture({ precious: 'yes' });
    const { stdout, stderr } = spawnSync(
      process.execPath,
      [join(import.meta.dirname, 'killed-fork.ts'), workspace.path, data.path],
      { encoding: 'utf8' },
    );
    expect(stdout, stderr).toBe('mounted\n');
    expect(mountsIn(data.path)).toHaveLength(1);
    const maker = data.at('forks/fork-killed/maker.json');
    const { began, target } = JSON.parse(text(maker));
    writeFileSync(maker, JSON.stringify({ pid: process.pid, target }));
    const next = start();
    await next.layered.forkDirectories.sweep();
    expect(mountsIn(data.path)).toHaveLength(1);
    // In a container the next process has the number of the one that was killed, and is another.
    writeFileSync(maker, JSON.stringify({ pid: process.pid, began, target }));
    await next.layered.forkDirectories.sweep();
    expect(mountsIn(data.path)).toEqual([]);
    expect(next.set.names).toEqual(['main']);
    // Nobody said of them who makes them: of a server that was killed at once, and of one that is just about to.
    mkdirSync(data.at('forks/before'));
    mkdirSync(data.at('forks/now'));
    utimesSync(data.at('forks/before'), 0, 0);
    await next.layered.forkDirectories.sweep();
    expect(readdirSync(data.at('forks'))).toEqual(['now']);
    expect(text(workspace.at('precious'))).toBe('yes');
  });

  test('the state below a fork is never written again', async () => {
    const { data, server, fork } = openForksFixture({ a: 'a', 'd/b': 'b' });
    await fork('one');
    const path = server.pathOf('one');
    writeFileSync(join(path, 'a'), 'x');
    rmSync(join(path, 'd'), { recursive: true });
    const [base = ''] = spawnSync('find', [data.at('bases'), '-name', 'tree', '-type', 'd'], { encoding: 'utf8' })
      .stdout.trim()
      .split('\n');
    expect(existsSync(join(base, 'd/b'))).toBe(true);
    expect(text(join(base, 'a'))).toBe('a');
  });
});
