import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setImmediate as breathe } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { openRoot } from '../../src/disk/paths/handles.ts';
import { createFollowedBase, type FollowedBaseOptions } from '../../src/history/forks/followed-base.ts';
import { createForkBases } from '../../src/history/forks/fork-bases.ts';
import { createLayerPins } from '../../src/history/forks/layer-pins.ts';
import { makeDirectory } from '../support/harness.ts';
import { openForksFixture, signal, text } from './forks-fixture.ts';
import { canOverlay, mountsIn, unmountBelow } from './layers-fixture.ts';

/** Everything there is to see, contents included. */
function listAll(directory: string): string {
  const find = ['.', '-mindepth', '1', '-printf', '%P|%y|%m|%l|%U|'];
  const options = { cwd: directory, encoding: 'utf8' } as const;
  const { stdout } = spawnSync(
    'find',
    [...find, '(', '-type', 'f', '-exec', 'md5sum', '{}', ';', '-o', '-printf', '\\n', ')'],
    options,
  );
  return stdout.split('\n').sort().join('\n');
}

const stepsIn = (data: string) => globSync('bases/*/step-*', { cwd: data }).sort();

/** Forks of one workspace by a base of our own, without the names and notes that others have of them. */
async function basesFixture(tree: Record<string, string>, options: Partial<FollowedBaseOptions> = {}) {
  const { workspace, data, server } = openForksFixture(tree);
  const live = openRoot(workspace.path);
  onTestFinished(() => closeSync(live));
  const bases = createForkBases(data.at('bases/own'));
  const followed = createFollowedBase({ bases, workspaceFd: live, tree: await server.tree('main'), ...options });
  const { forkDirectories } = server.layered;
  const make = (id: string) =>
    forkDirectories.create({ id, workspaceFd: live, about: {}, base: () => followed.find(), finish: async () => {} });
  return { workspace, data, directories: forkDirectories, bases, followed, make };
}

describe.runIf(canOverlay)('layers below forks', () => {
  test('each has the changes since the previous one, and nothing else', async () => {
    const { workspace, data, server, fork } = openForksFixture({ 'src/a': 'a', 'src/b': 'b', c: 'c' });
    await fork('one');
    expect(stepsIn(data.path)).toEqual([]);
    await fork('same');
    expect(stepsIn(data.path), 'nothing changed').toEqual([]);
    writeFileSync(workspace.at('src/a'), 'changed');
    await fork('two');
    writeFileSync(workspace.at('src/b'), 'changed too');
    mkdirSync(workspace.at('new/deep'), { recursive: true });
    writeFileSync(workspace.at('new/deep/f'), 'f');
    await fork('three');
    const contents = stepsIn(data.path).map((step) => globSync('tree/**', { cwd: data.at(step) }).sort());
    expect(contents.sort()).toEqual([
      ['tree', 'tree/new', 'tree/new/deep', 'tree/new/deep/f', 'tree/src', 'tree/src/b'],
      ['tree', 'tree/src', 'tree/src/a'],
    ]);
    expect(listAll(server.pathOf('three'))).toBe(listAll(workspace.path));
    expect(text(join(server.pathOf('two'), 'src/b'))).toBe('b');
    expect(text(join(server.pathOf('one'), 'src/a'))).toBe('a');
  });

  test('a file created and removed between two forks leaves nothing, and a removed file is gone in all later forks', async () => {
    const { workspace, data, server, fork } = openForksFixture({ 'd/a': 'a', 'd/b': 'b' });
    await fork('one');
    writeFileSync(workspace.at('passing'), 'x');
    await server.historyOf('main').captureSource();
    rmSync(workspace.at('passing'));
    rmSync(workspace.at('d/b'));
    await fork('two');
    expect(stepsIn(data.path)).toEqual([]);
    writeFileSync(workspace.at('d/c'), 'c');
    await fork('three');
    for (const name of ['two', 'three']) expect(existsSync(join(server.pathOf(name), 'd/b'))).toBe(false);
    writeFileSync(workspace.at('d/b'), 'b again');
    await fork('four');
    expect(listAll(server.pathOf('four'))).toBe(listAll(workspace.path));
  });

  test('after any changes in between, each fork equals the workspace at its time, and stays so', async () => {
    const { workspace, make, directories } = await basesFixture(
      { 'a/1': '1', 'a/2': '2', 'b/c/3': '3', d: 'd' },
      { maxSteps: 3, renewAfterMs: 0 },
    );
    const next = random(7);
    const known: { target: string; seen: string }[] = [];
    for (let round = 0; round < 25; round++) {
      for (let times = next(5); times >= 0; times--) disturb(workspace.path, next);
      const { target } = await make(`fork-${round}`);
      known.push({ target, seen: listAll(target) });
      expect(known.at(-1)?.seen, `round ${round}`).toBe(listAll(workspace.path));
      // So that some are made while the layers are made one, and some after.
      for (let turns = next(20); turns > 0; turns--) await breathe();
    }
    for (const { target, seen } of known) expect(listAll(target)).toBe(seen);
    expect(Math.max(...directories.list().map(({ steps }) => steps.length))).toBeLessThanOrEqual(12);
  });

  test('several layers become one in the background, and forks go on meanwhile', async () => {
    const { workspace, make, followed } = await basesFixture({ a: '0', b: 'b' }, { maxSteps: 3, renewAfterMs: 0 });
    await make('fork-0');
    for (let round = 1; round <= 3; round++) {
      writeFileSync(workspace.at('a'), String(round));
      writeFileSync(workspace.at(`new-${round}`), String(round));
      await make(`fork-${round}`);
    }
    await vi.waitFor(async () => expect((await followed.find()).steps).toHaveLength(1));
    const { target, steps } = await make('fork-later');
    expect(steps).toHaveLength(1);
    expect(listAll(target)).toBe(listAll(workspace.path));
  });

  test('with too many changes for layers are replaced by a new base, also in the background', async () => {
    const files = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`d/${index}`, 'x']));
    const { workspace, make, followed } = await basesFixture(files, { maxPaths: 16, renewAfterMs: 0 });
    const first = await make('first');
    for (let index = 0; index < 6; index++) rmSync(workspace.at(`d/${index}`));
    const second = await make('second');
    expect(second.base).toBe(first.base);
    await vi.waitFor(async () => expect((await followed.find()).base.path).not.toBe(first.base));
    for (let index = 6; index < 36; index++) rmSync(workspace.at(`d/${index}`));
    const third = await make('third');
    expect(third.steps).toEqual([]);
    expect(listAll(third.target)).toBe(listAll(workspace.path));
    expect(readdirSync(join(first.target, 'd'))).toHaveLength(40);
  });

  test('are removed with the last fork that uses them, but not while the next is made from them', async () => {
    const holder = createLayerPins();
    const { workspace, data, make, directories } = await basesFixture({ a: '0' }, { pins: holder });
    await make('fork-0');
    writeFileSync(workspace.at('a'), '1');
    const one = await make('fork-1');
    const same = await make('fork-same');
    await directories.remove(one);
    expect(one.steps.map((path) => existsSync(path))).toEqual([true]);
    await directories.remove(same);
    expect(stepsIn(data.path), 'held for the next').toHaveLength(1);
    writeFileSync(workspace.at('b'), 'b');
    const two = await make('fork-2');
    expect(two.steps).toHaveLength(2);
    expect(listAll(two.target)).toBe(listAll(workspace.path));
    holder.release();
    await directories.remove(two);
    expect(stepsIn(data.path)).toEqual([]);
    expect(existsSync(join(two.base, 'a')), 'the base is for later').toBe(true);
  });

  test('that were removed by others are made again', async () => {
    const { workspace, data, make } = await basesFixture({ a: '0', b: 'b' });
    await make('fork-0');
    writeFileSync(workspace.at('a'), '1');
    const { steps } = await make('fork-1');
    for (const step of stepsIn(data.path)) rmSync(data.at(step), { recursive: true });
    const again = await make('fork-2');
    expect(again.steps).not.toEqual(steps);
    expect(listAll(again.target)).toBe(listAll(workspace.path));
  });

  test('cannot be written from above, nor read through a link', async () => {
    const outside = makeDirectory({ f: 'outside' });
    onTestFinished(() => outside[Symbol.dispose]());
    const { workspace, data, server, fork } = openForksFixture({ 'd/f': 'f', e: 'e' });
    await fork('one');
    writeFileSync(workspace.at('d/f'), 'second');
    symlinkSync(outside.path, workspace.at('link'));
    await fork('two');
    const [step = ''] = stepsIn(data.path);
    const before = listAll(data.at(step));
    const path = server.pathOf('two');
    writeFileSync(join(path, 'd/f'), 'by an agent');
    chmodSync(join(path, 'd'), 0o700);
    rmSync(join(path, 'link'));
    expect(listAll(data.at(step))).toBe(before);
    rmSync(workspace.at('link'));
    mkdirSync(workspace.at('link'));
    writeFileSync(workspace.at('link/f'), 'inside');
    await fork('three');
    expect(listAll(server.pathOf('three'))).toBe(listAll(workspace.path));
    expect(text(outside.at('f'))).toBe('outside');
  });

  test('stay consistent if a fork fails: it leaves nothing, and the next has everything', async () => {
    const { workspace, data, directories, followed, make } = await basesFixture({ a: '0' });
    await make('fork-0');
    writeFileSync(workspace.at('a'), '1');
    const live = openRoot(workspace.path);
    onTestFinished(() => closeSync(live));
    const failing = directories.create({
      ...{ id: 'fork-bad', workspaceFd: live, about: {}, base: () => followed.find() },
      meanwhile: async () => {
        throw new Error('the disk is full');
      },
      finish: async () => {},
    });
    await expect(failing).rejects.toThrow('the disk is full');
    expect(readdirSync(data.at('forks'))).toEqual(['fork-0']);
    expect(mountsIn(data.path)).toHaveLength(1);
    expect(text(join((await make('fork-1')).target, 'a'))).toBe('1');
  });

  test('survive kill −9 and a restart of the machine: forks are unchanged, and unfinished ones are removed', async () => {
    const gone = { 'gone-one': '1', 'gone-two': '2', 'gone-three': '3' };
    const { workspace, data, start } = openForksFixture({ a: 'a', 'd/b': 'b', ...gone });
    const program = join(import.meta.dirname, 'killed-steps.ts');
    const { stdout, stderr } = spawnSync(process.execPath, [program, workspace.path, data.path], { encoding: 'utf8' });
    expect(stdout, stderr).toBe('halfway\n');
    unmountBelow(data.path);
    expect(globSync('bases/*/making-*', { cwd: data.path })).toHaveLength(1);

    const next = start();
    expect(next.warnings).toEqual([]);
    expect(next.set.names).toEqual(['main', 'one', 'three', 'two']);
    const namesIn = (name: string) => readdirSync(next.pathOf(name)).sort();
    expect(namesIn('one')).toEqual(['a', 'd', 'gone-one', 'gone-three', 'gone-two']);
    expect(namesIn('two')).toEqual(['a', 'd', 'gone-three', 'gone-two', 'new-one']);
    expect(namesIn('three')).toEqual(['a', 'd', 'gone-three', 'new-one', 'new-two']);
    expect(['one', 'two', 'three'].map((name) => text(join(next.pathOf(name), 'a')))).toEqual([
      'a',
      'changed after one',
      'changed after two',
    ]);

    await next.of('main').fork({ name: 'four', session: 's', signal });
    expect(listAll(next.pathOf('four'))).toBe(listAll(workspace.path));
    expect(globSync('bases/*/making-*', { cwd: data.path })).toEqual([]);
    const before = stepsIn(data.path);
    await next.of('main').remove('three');
    expect(stepsIn(data.path), 'one that only it showed').toHaveLength(before.length - 1);
    expect(namesIn('two')).toEqual(['a', 'd', 'gone-three', 'gone-two', 'new-one']);
  });
});

/** The same numbers every time. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1103515245 + 12345) & 0x7fffffff;
    return (state >> 8) % below;
  };
}

/** One change of any kind, anywhere. */
function disturb(root: string, next: (below: number) => number): void {
  const all = globSync('**', { cwd: root }).filter((path) => path !== '.');
  const some = join(root, all[next(all.length)] ?? 'a');
  const fresh = join(root, ['', 'a', 'b', 'b/c', 'e'][next(5)] ?? '', `n${next(6)}`);
  const deeds = [
    () => writeFileSync(some, `w${next(1000)}`),
    () => writeFileSync(fresh, `n${next(1000)}`),
    () => rmSync(some, { recursive: true }),
    () => mkdirSync(join(fresh, 'deep'), { recursive: true }),
    () => renameSync(some, fresh),
    // To a name in the same directory: what is done through it stays in the tree.
    () => symlinkSync('aim', fresh),
    () => chmodSync(some, [0o600, 0o700, 0o755][next(3)] ?? 0o755),
    () => {
      rmSync(some, { recursive: true });
      mkdirSync(some);
      writeFileSync(join(some, 'x'), `x${next(1000)}`);
    },
  ];
  try {
    deeds[next(deeds.length)]?.();
  } catch {
    // Not every deed can be done everywhere.
  }
}
