import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeDirectory } from '../../test/support/harness.ts';
import { createMirror, expectSame } from '../../test/support/tree-mirror.ts';
import { findInit } from './find-init.ts';
import type { FollowedChanges, FollowedTree } from './followed-tree.ts';
import { createFollower } from './follower.ts';
import type { FollowLimits } from './follower-process.ts';

const shared = createFollower(findInit);

async function follow(path: string, by = shared): Promise<FollowedTree> {
  const handle = fs.openSync(path, 'r');
  const following = await by.open(handle);
  // The follower has its own descriptor.
  fs.closeSync(handle);
  onTestFinished(() => following.close());
  return following;
}

function makeTree(tree: Record<string, string> = {}) {
  const fixture = makeDirectory(tree);
  onTestFinished(() => fixture[Symbol.dispose]());
  return fixture;
}

async function makeFollowed(tree: Record<string, string> = {}, limits?: FollowLimits) {
  const fixture = makeTree(tree);
  const following = await follow(fixture.path, limits ? createFollower(findInit, limits) : shared);
  const mirror = createMirror(following);
  const takeAndCompare = async () => {
    const taken = await mirror.take();
    expectSame(mirror.entries, fixture.path);
    return taken;
  };
  return { ...fixture, following, mirror, take: takeAndCompare };
}

const reports = ({ sightings }: FollowedChanges) => sightings.map(({ kind, path }) => `${kind} ${path}`).sort();

test('the first answer is the whole tree, the next has the changes, and then there is nothing', async () => {
  const { at, take } = await makeFollowed({ 'a/b/c.txt': 'one', 'd.txt': 'two' });
  const first = await take();
  expect(first.isWhole).toBe(true);
  expect(reports(first)).toEqual(['directory a', 'directory a/b', 'file a/b/c.txt', 'file d.txt']);
  fs.writeFileSync(at('a/b/c.txt'), 'three');
  fs.rmSync(at('d.txt'));
  const second = await take();
  expect(second).toMatchObject({ isWhole: false });
  expect(reports(second)).toEqual(['file a/b/c.txt', 'gone d.txt']);
  expect(second.sightings.find(({ kind }) => kind === 'file')).toMatchObject({ size: 5, mode: 0o644 });
  expect(second.atNs).toBeGreaterThan(first.atNs - 1n);
  expect(reports(await take())).toEqual([]);
});

test('reading a file is no change', async () => {
  const { at, path, take } = await makeFollowed({ 'a/b.txt': 'one' });
  await take();
  fs.readFileSync(at('a/b.txt'));
  fs.readdirSync(path, { recursive: true });
  fs.lstatSync(at('a/b.txt'));
  expect(reports(await take())).toEqual([]);
});

test('a moved directory is gone at its old path, and whole at its new path', async () => {
  const { at, take } = await makeFollowed({ 'a/b/c.txt': '', 'a/d.txt': '', 'e/f.txt': '' });
  await take();
  fs.renameSync(at('a'), at('e/g'));
  expect(reports(await take())).toEqual([
    'directory e/g',
    'directory e/g/b',
    'file e/g/b/c.txt',
    'file e/g/d.txt',
    'gone a',
  ]);
  fs.writeFileSync(at('e/g/b/c.txt'), 'changed where it is now');
  expect(reports(await take())).toEqual(['file e/g/b/c.txt']);
});

test('a new directory of the same name is followed, not the removed one', async () => {
  const { at, take } = await makeFollowed({ 'a/b/c.txt': '' });
  await take();
  fs.rmSync(at('a'), { recursive: true });
  fs.mkdirSync(at('a/b'), { recursive: true });
  await take();
  fs.writeFileSync(at('a/b/d.txt'), '');
  expect(reports(await take())).toEqual(['file a/b/d.txt']);
});

test('a tree that is moved in is listed, and one that is moved out is gone with its later changes', async () => {
  const { at, take } = await makeFollowed({ 'kept.txt': '' });
  const outside = makeTree({ 'tree/a/b.txt': '', 'tree/c.txt': '' });
  await take();
  fs.renameSync(outside.at('tree'), at('in'));
  expect(reports(await take())).toEqual(['directory in', 'directory in/a', 'file in/a/b.txt', 'file in/c.txt']);
  fs.renameSync(at('in'), outside.at('out'));
  fs.writeFileSync(outside.at('out/a/more.txt'), '');
  expect(reports(await take())).toEqual(['gone in']);
  fs.writeFileSync(outside.at('out/a/more.txt'), 'again');
  expect(reports(await take())).toEqual([]);
});

test('a change by one name of a file is reported for all of its names, also if that name is outside', async () => {
  const { at, take } = await makeFollowed({ 'a/one.txt': 'x', 'b/two.txt': 'y' });
  const outside = makeTree();
  await take();
  fs.linkSync(at('a/one.txt'), at('b/other.txt'));
  await take();
  fs.appendFileSync(at('b/other.txt'), 'more');
  expect(reports(await take())).toEqual(['file a/one.txt', 'file b/other.txt']);
  fs.linkSync(at('a/one.txt'), outside.at('third.txt'));
  fs.rmSync(at('b/other.txt'));
  await take();
  fs.appendFileSync(outside.at('third.txt'), 'and more');
  expect(reports(await take())).toEqual(['file a/one.txt']);
  expect(reports(await take())).toEqual([]);
});

test('a name of any bytes is reported exactly', async () => {
  const { path, take } = await makeFollowed();
  const names = [[0xff], [0xc3, 0x28], [0x61, 0x0a, 0x80], [0xed, 0xb2, 0x80], [...Buffer.from('größe 😀')], [0x5c]];
  for (const bytes of names) fs.mkdirSync(Buffer.concat([Buffer.from(`${path}/`), Buffer.from(bytes)]));
  await take();
  for (const bytes of names)
    fs.writeFileSync(Buffer.concat([Buffer.from(`${path}/`), Buffer.from(bytes), Buffer.from('/x\xfe', 'latin1')]), '');
  expect((await take()).sightings.length).toBe(names.length);
});

test('links and pipes are reported, and links are not followed', async () => {
  const outside = makeTree({ 'secret.txt': '' });
  const { at, take } = await makeFollowed();
  await take();
  fs.symlinkSync(outside.path, at('out'));
  fs.symlinkSync('.', at('loop'));
  const maker = spawn('mkfifo', [at('pipe')]);
  await once(maker, 'exit');
  expect(reports(await take())).toEqual(['link loop', 'link out', 'other pipe']);
  fs.writeFileSync(outside.at('secret.txt'), 'changed');
  expect(reports(await take())).toEqual([]);
});

test('other file systems are not entered', async ({ skip }) => {
  const isMount = fs.statSync('/dev/pts', { throwIfNoEntry: false })?.dev !== fs.statSync('/dev').dev;
  if (!isMount) skip();
  const { sightings } = await (await follow('/dev')).take();
  expect(sightings.filter(({ path }) => path.startsWith('pts'))).toMatchObject([{ kind: 'directory', path: 'pts' }]);
});

test('a path may be longer than the kernel accepts', async () => {
  const { path, following, mirror } = await makeFollowed();
  const name = 'n'.repeat(200);
  const script = 'i=0; while [ $i -lt 40 ]; do mkdir "$1"; cd -P "$1" || exit 1; i=$((i+1)); done; echo x > deep.txt';
  const maker = spawn('sh', ['-c', script, 'sh', name], { cwd: path });
  expect((await once(maker, 'exit'))[0]).toBe(0);
  await mirror.take();
  const deep = `${Array.from({ length: 40 }, () => name).join('/')}/deep.txt`;
  expect(deep.length).toBeGreaterThan(4096);
  expect(mirror.entries.get(deep)).toMatch(/^file/);
  const changer = spawn('sh', ['-c', `${script.replace('mkdir "$1"; ', '')}; echo y >> deep.txt`, 'sh', name], {
    cwd: path,
  });
  expect((await once(changer, 'exit'))[0]).toBe(0);
  expect(reports(await following.take())).toEqual([`file ${deep}`]);
  await once(spawn('rm', ['-r', join(path, name)]), 'exit');
  expect(reports(await following.take())).toEqual([`gone ${name}`]);
});

test('thousands of directories are listed, and changes in them are found', { timeout: 60_000 }, async () => {
  const { at, take } = await makeFollowed();
  for (let i = 0; i < 3000; i++) {
    fs.mkdirSync(at(`${i % 30}/${i}`), { recursive: true });
    fs.writeFileSync(at(`${i % 30}/${i}/file`), String(i));
  }
  expect((await take()).sightings.length).toBe(6030);
  for (const i of [7, 1500, 2999]) fs.appendFileSync(at(`${i % 30}/${i}/file`), '!');
  expect(reports(await take())).toEqual(['file 0/1500/file', 'file 29/2999/file', 'file 7/7/file']);
  for (let i = 0; i < 30; i++) fs.renameSync(at(`${i}`), at(`moved-${i}`));
  expect((await take()).sightings.length).toBe(6060);
  fs.rmSync(at('moved-3'), { recursive: true });
  expect(reports(await take())).toEqual(['gone moved-3']);
});

test('more changes than the memory holds make the next answer whole, and the one after it is partial again', async () => {
  const { at, take } = await makeFollowed({ 'a/0': '' }, { paths: 10 });
  await take();
  for (let i = 0; i < 10; i++) fs.writeFileSync(at(`a/${i}`), 'x');
  expect((await take()).isWhole).toBe(false);
  for (let i = 0; i < 11; i++) fs.writeFileSync(at(`a/${i}`), 'y');
  expect((await take()).isWhole).toBe(true);
  fs.writeFileSync(at('a/1'), 'z');
  expect(reports(await take())).toEqual(['file a/1']);
});

test('directories without a watch are polled, and only changed ones are reported, until watches are free again', async () => {
  const by = createFollower(findInit, { watches: 4 });
  const first = makeTree({ 'a/b/c': '' });
  const second = makeTree({ 'd/e/f': '', 'd/e/g': '', 'd/other/h': '' });
  const followed = await follow(first.path, by);
  const starved = createMirror(await follow(second.path, by));
  await followed.take();
  expect(await starved.take()).toMatchObject({ isWhole: true, isPolled: true });
  for (let i = 0; i < 3; i++) {
    fs.writeFileSync(second.at('d/e/f'), String(i));
    const taken = await starved.take();
    expect(taken).toMatchObject({ isWhole: false, isPolled: true });
    expect(reports(taken)).toEqual(['file d/e/f', 'file d/e/g', 'listed d/e']);
    expectSame(starved.entries, second.path);
    expect((await starved.take()).sightings).toEqual([]);
  }
  fs.rmSync(second.at('d/e/g'));
  fs.mkdirSync(second.at('d/new/deep'), { recursive: true });
  fs.writeFileSync(second.at('d/new/deep/i'), '');
  await starved.take();
  expectSame(starved.entries, second.path);
  fs.writeFileSync(first.at('a/b/c'), 'still followed');
  expect(reports(await followed.take())).toEqual(['file a/b/c']);
  followed.close();
  fs.rmSync(second.at('d/new'), { recursive: true });
  fs.rmSync(second.at('d/other'), { recursive: true });
  await starved.take();
  fs.writeFileSync(second.at('d/e/f'), 'followed');
  const again = await starved.take();
  expect(reports(again)).toEqual(['file d/e/f']);
  expect(again.isPolled).toBeUndefined();
});

test('several callers can follow the same tree, or a part of it', async () => {
  const { at, path, take } = await makeFollowed({ 'a/b/c.txt': '' });
  const again = await follow(path);
  const part = await follow(at('a'));
  await Promise.all([take(), again.take(), part.take()]);
  fs.writeFileSync(at('a/b/c.txt'), 'x');
  expect(reports(await take())).toEqual(['file a/b/c.txt']);
  again.close();
  fs.writeFileSync(at('a/b/d.txt'), 'x');
  expect(reports(await take())).toEqual(['file a/b/d.txt']);
  expect(reports(await part.take())).toEqual(['file b/c.txt', 'file b/d.txt']);
  fs.renameSync(at('a/b'), at('b'));
  expect(reports(await take())).toEqual(['directory b', 'file b/c.txt', 'file b/d.txt', 'gone a/b']);
  expect(reports(await part.take())).toEqual(['gone b']);
});

test('a tree whose root is removed becomes empty', async () => {
  const { at, take } = await makeFollowed({ 'root/a/b': '' });
  const mirror = createMirror(await follow(at('root')));
  await Promise.all([take(), mirror.take()]);
  fs.rmSync(at('root'), { recursive: true });
  await mirror.take();
  expect(mirror.entries.size).toBe(0);
  expect(reports(await take())).toEqual(['gone root']);
  fs.mkdirSync(at('root'));
  fs.writeFileSync(at('root/new'), '');
  await mirror.take();
  expect(mirror.entries.size).toBe(0);
});
