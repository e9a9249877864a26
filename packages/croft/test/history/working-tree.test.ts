import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { emptyRoot, type PathChange } from '../../src/core/history/tree.ts';
import type { WorkingTree } from '../../src/core/history/working-tree.ts';
import { openRoot } from '../../src/disk/handles.ts';
import { openSqliteStore } from '../../src/history/sqlite-store.ts';
import { createWalkingFollower } from '../../src/history/walking-follower.ts';
import { openWorkingTree } from '../../src/history/working-tree.ts';
import { createInitFinder } from '../../src/init/binary.ts';
import { createFollower } from '../../src/init/follower.ts';
import type { Follower } from '../../src/init/following.ts';
import { sha256 } from '../../src/lib/sha256.ts';
import { onDisk, prepareTree } from './trees.ts';

const scope = 'all';
const reversed = (changes: readonly PathChange[]) =>
  changes.map(({ path, before, after }) => ({ path, before: after, after: before }));
const follow = () => createFollower(createInitFinder());

async function paths(tree: WorkingTree, root: string): Promise<string[]> {
  return (await Array.fromAsync(tree.entries(root))).map(({ path }) => path);
}

test('an empty tree is the empty root, in every scope', async () => {
  const ground = prepareTree();
  const tree = await ground.open();
  for (const each of ['source', 'with-ignored', 'all'] as const)
    expect(await tree.capture({ scope: each })).toEqual({ root: emptyRoot, files: 0, bytes: 0, missed: [] });
  expect(await tree.diff(emptyRoot, emptyRoot)).toEqual([]);
});

test('entries come in order of their whole paths, and each can be asked for', async () => {
  const ground = prepareTree({ 'a/b': '1', 'a-b': '2', 'a.b/c/d': '3', z: '4' });
  mkdirSync(ground.at('empty'));
  const tree = await ground.open();
  const { root } = await tree.capture({ scope });
  expect(await paths(tree, root)).toEqual(['a-b', 'a.b/c/d', 'a/b', 'empty', 'z']);
  expect(await tree.entry(root, 'a.b/c/d')).toEqual({ kind: 'file', mode: 0o644, size: 1, hash: sha256('3') });
  expect(await tree.entry(root, 'a.b/c')).toMatchObject({ kind: 'directory', mode: 0o755 });
  expect(await tree.entry(root, 'a/b/c')).toBeUndefined();
  await expect(tree.entry(root, '../x')).rejects.toMatchObject({ code: 'E_INVALID_PATH' });
});

test('scopes leave out what they say, at any depth', async () => {
  const ground = prepareTree({
    '.git/HEAD': 'ref: x',
    'sub/.git': 'gitdir: ../.git/modules/sub',
    'sub/a.txt': 'a',
    'b.log': 'b',
    '.gitignore': '*.log\n',
    '.croft-tmp-abc': 'half',
  });
  const tree = await ground.open();
  const seen = async (each: 'source' | 'with-ignored' | 'all') =>
    paths(tree, (await tree.capture({ scope: each })).root);
  expect(await seen('source')).toEqual(['.gitignore', 'sub/a.txt']);
  expect(await seen('with-ignored')).toEqual(['.gitignore', 'b.log', 'sub/a.txt']);
  expect(await seen('all')).toEqual(['.git/HEAD', '.gitignore', 'b.log', 'sub/.git', 'sub/a.txt']);
});

test('pipes, sockets and devices are not there, and nobody waits for them', async () => {
  const ground = prepareTree({ a: 'a' });
  execFileSync('mkfifo', [ground.at('pipe')]);
  const tree = await ground.open(follow());
  expect(await paths(tree, (await tree.capture({ scope })).root)).toEqual(['a']);
  rmSync(ground.at('a'));
  execFileSync('mkfifo', [ground.at('a')]);
  expect((await tree.capture({ scope })).root).toBe(emptyRoot);
});

test('a write of the same size in the same tick of the clock as the one that was read is seen by the next', async () => {
  const ground = prepareTree({ a: '0000' });
  const handle = openRoot(ground.path);
  onTestFinished(() => closeSync(handle));
  const store = openSqliteStore(`${ground.data}/history.db`);
  const looking = createWalkingFollower();
  let [isArmed, round] = [false, 0];
  const write = (half: number) => writeFileSync(ground.at('a'), String(round * 2 + half).padStart(4, '0'));
  // Just before it is looked at, and as soon as it has been read.
  const follower: Follower = {
    async open(directory) {
      const following = await looking.open(directory);
      const take = () => {
        if (isArmed) write(0);
        return following.take();
      };
      return { ...following, take };
    },
  };
  const keep: typeof store.keep = (contents, notes) => {
    if (isArmed) write(1);
    isArmed = false;
    return store.keep(contents, notes);
  };
  const tree = await openWorkingTree({ handle, store: { ...store, keep }, follower });
  onTestFinished(() => tree[Symbol.asyncDispose]());
  for (round = 1; round < 60; round++) {
    isArmed = true;
    await tree.capture({ scope });
    const { root } = await tree.capture({ scope });
    expect((await tree.entry(root, 'a'))?.hash).toBe(sha256(readFileSync(ground.at('a'))));
  }
});

test('what is written while it is captured is whole, and the last capture has the last of it', async () => {
  const ground = prepareTree();
  const texts = new Map(Array.from({ length: 40 }, (_, index) => [sha256(`${index}`.repeat(3000)), index]));
  for (let file = 0; file < 20; file++) writeFileSync(ground.at(`${file}`), '0'.repeat(3000));
  const tree = await ground.open(follow());
  let isWriting = true;
  const writing = (async () => {
    for (let round = 0; round < 300; round++) {
      const temporary = ground.at('next');
      writeFileSync(temporary, `${round % 40}`.repeat(3000));
      renameSync(temporary, ground.at(`${round % 20}`));
      await setImmediate();
    }
    isWriting = false;
  })();
  while (isWriting) {
    const { root } = await tree.capture({ scope });
    for await (const { entry } of tree.entries(root)) {
      expect(texts.has(entry.hash)).toBe(true);
      expect((await tree.store.lacks([entry.hash])).size).toBe(0);
    }
  }
  await writing;
  const { root } = await tree.capture({ scope });
  const other = await (await ground.open()).capture({ scope });
  expect(other.root).toBe(root);
});

test('large files are kept in pieces, and those over the limit by their hash alone', async () => {
  const ground = prepareTree({ small: 's' });
  const large = Buffer.alloc(9 * 1024 * 1024, 'large ');
  writeFileSync(ground.at('large'), large);
  const tree = await ground.open();
  const limited = await tree.capture({ scope, maxFileBytes: 1_000_000 });
  expect(limited.missed).toEqual(['large']);
  expect((await tree.entry(limited.root, 'large'))?.hash).toBe(sha256(large));
  expect((await tree.store.lacks([sha256(large)])).size).toBe(1);
  expect((await tree.capture({ scope, maxFileBytes: 1_000_000 })).missed).toEqual(['large']);

  const whole = await tree.capture({ scope });
  expect(whole).toEqual({ root: limited.root, files: 2, bytes: 1 + large.byteLength, missed: [] });
  truncateSync(ground.at('large'), 10);
  const { root } = await tree.capture({ scope });
  await tree.apply(await tree.diff(root, whole.root));
  expect(readFileSync(ground.at('large')).equals(large)).toBe(true);
});

/** Until what was read is known to be what stays, and is written down. */
async function settle(tree: WorkingTree, file: string): Promise<void> {
  await vi.waitFor(() => expect(Date.now() - statSync(file).ctimeMs).toBeGreaterThan(50));
  await tree.capture({ scope });
  await tree[Symbol.asyncDispose]();
}

test('what was read is not read again by the next start, unless it changed', async () => {
  const ground = prepareTree({ 'a/b': 'content', c: 'other' });
  const first = await ground.open();
  await first.capture({ scope });
  await settle(first, ground.at('c'));
  const index = new DatabaseSync(`${ground.data}/index.db`);
  // Whoever answers with this has not looked into the file.
  const wrong = index.prepare("SELECT hash FROM files WHERE path = CAST('c' AS BLOB)").get()?.hash as Uint8Array;
  index.prepare("UPDATE files SET hash = ? WHERE path = CAST('a/b' AS BLOB)").run(wrong);
  index.close();
  const second = await ground.open();
  const { root } = await second.capture({ scope });
  expect((await second.entry(root, 'a/b'))?.hash).toBe(sha256('other'));
  await second[Symbol.asyncDispose]();
  writeFileSync(ground.at('a/b'), 'changed');
  const third = await ground.open();
  expect((await third.entry((await third.capture({ scope })).root, 'a/b'))?.hash).toBe(sha256('changed'));
});

test('what the store has lost is brought again', async () => {
  const ground = prepareTree({ 'a/b': 'content', c: 'other' });
  const first = await ground.open();
  const { root } = await first.capture({ scope });
  await settle(first, ground.at('c'));
  await using store = openSqliteStore(`${ground.data}/history.db`);
  const all = [root, sha256('content'), sha256('other')];
  const second = await ground.open();
  for (let round = 0; round < 2; round++) {
    await store.collect([]);
    expect((await store.lacks(all)).size).toBe(3);
    expect((await second.capture({ scope })).root).toBe(root);
    expect((await store.lacks(all)).size).toBe(0);
  }
});

test('what was captured last stays when the store collects', async () => {
  const ground = prepareTree({ 'a/b': 'content' });
  const tree = await ground.open();
  const { root } = await tree.capture({ scope });
  await tree.store.collect([]);
  expect((await tree.store.lacks([root, sha256('content')])).size).toBe(0);
  appendFileSync(ground.at('new'), 'x');
  const next = await tree.capture({ scope });
  expect(await tree.diff(root, next.root)).toMatchObject([{ path: 'new' }]);
});

test('apply refuses everything if one path is not as it was, and says which', async () => {
  const ground = prepareTree({ a: '1', b: '1', 'd/c': '1' });
  const tree = await ground.open();
  const before = (await tree.capture({ scope })).root;
  for (const name of ['a', 'b', 'd/c']) writeFileSync(ground.at(name), 'new');
  const changes = await tree.diff(before, (await tree.capture({ scope })).root);
  const cases: [string, () => void, () => void][] = [
    ['b', () => writeFileSync(ground.at('b'), 'mine'), () => writeFileSync(ground.at('b'), 'new')],
    ['b', () => chmodSync(ground.at('b'), 0o755), () => chmodSync(ground.at('b'), 0o644)],
    ['b', () => rmSync(ground.at('b')), () => writeFileSync(ground.at('b'), 'new')],
    ['d/c', () => renameSync(ground.at('d'), ground.at('e')), () => renameSync(ground.at('e'), ground.at('d'))],
  ];
  for (const [path, spoil, repair] of cases) {
    spoil();
    const disk = onDisk(ground.path);
    await expect(tree.apply(reversed(changes))).rejects.toMatchObject({
      code: 'E_CONFLICT',
      details: { paths: [path] },
    });
    expect(onDisk(ground.path)).toEqual(disk);
    repair();
  }
  await tree.apply(reversed(changes));
  expect((await tree.capture({ scope })).root).toBe(before);
});

test('what is in the way of something new is not lost', async () => {
  const ground = prepareTree({ 'a/b': '1' });
  const tree = await ground.open();
  const { root } = await tree.capture({ scope });
  const [empty] = await tree.diff(emptyRoot, root);
  rmSync(ground.at('a'), { recursive: true });
  writeFileSync(ground.at('a'), 'a file now');
  await expect(tree.apply([empty!])).rejects.toMatchObject({ code: 'E_CONFLICT', details: { paths: ['a/b'] } });
  expect(readFileSync(ground.at('a'), 'utf8')).toBe('a file now');
});

test('a directory that gives way to a file keeps what nobody knows of', async () => {
  const ground = prepareTree({ 'a/b': '1', 'a/sub/c': '2', '.gitignore': '*.secret\n' });
  const tree = await ground.open();
  const before = (await tree.capture({ scope: 'source' })).root;
  rmSync(ground.at('a'), { recursive: true });
  writeFileSync(ground.at('a'), 'file');
  const changes = await tree.diff(before, (await tree.capture({ scope: 'source' })).root);
  await tree.apply(reversed(changes));
  expect(onDisk(ground.path)).toMatchObject({ 'a/b': 'file 644 1', 'a/sub/c': 'file 644 2' });
  writeFileSync(ground.at('a/sub/x.secret'), 'only here');
  await expect(tree.apply(changes)).rejects.toMatchObject({ code: 'E_CONFLICT', details: { paths: ['a'] } });
  expect(readFileSync(ground.at('a/sub/x.secret'), 'utf8')).toBe('only here');
  rmSync(ground.at('a/sub/x.secret'));
  await tree.apply(changes);
  expect(readFileSync(ground.at('a'), 'utf8')).toBe('file');
});

test('directories that are left empty go, and those that hold ignored files stay', async () => {
  const ground = prepareTree({ 'keep/a': '1', '.gitignore': '*.o\n' });
  const tree = await ground.open();
  const before = (await tree.capture({ scope: 'source' })).root;
  mkdirSync(ground.at('x/y/z'), { recursive: true });
  mkdirSync(ground.at('built'));
  writeFileSync(ground.at('x/y/z/f'), 'f');
  writeFileSync(ground.at('built/a.c'), 'f');
  writeFileSync(ground.at('built/a.o'), 'o');
  const after = (await tree.capture({ scope: 'source' })).root;
  await tree.apply(await tree.diff(after, before));
  expect(existsSync(ground.at('x'))).toBe(false);
  expect(readFileSync(ground.at('built/a.o'), 'utf8')).toBe('o');
  expect(existsSync(ground.at('built/a.c'))).toBe(false);
});

test('nothing is written through a link, to outside or inside', async () => {
  const ground = prepareTree({ 'd/a': 'mine', victim: 'untouched' });
  const outside = prepareTree({ a: 'mine' });
  const tree = await ground.open();
  const before = (await tree.capture({ scope })).root;
  writeFileSync(ground.at('d/a'), 'changed');
  const changes = reversed(await tree.diff(before, (await tree.capture({ scope })).root));
  // The directory becomes a link to another with just such a file.
  writeFileSync(outside.at('a'), 'changed');
  rmSync(ground.at('d'), { recursive: true });
  symlinkSync(outside.path, ground.at('d'));
  await expect(tree.apply(changes)).rejects.toMatchObject({ code: 'E_CONFLICT' });
  expect(readFileSync(outside.at('a'), 'utf8')).toBe('changed');
  // A link in the place of the file: what it leads to stays.
  rmSync(ground.at('d'));
  mkdirSync(ground.at('d'));
  symlinkSync('../victim', ground.at('d/a'));
  const linked = (await tree.capture({ scope })).root;
  await tree.apply(await tree.diff(linked, before));
  expect(lstatSync(ground.at('d/a')).isFile()).toBe(true);
  expect(readFileSync(ground.at('victim'), 'utf8')).toBe('untouched');
});

test('a link that leads out is remembered as it is and brought back as it is', async () => {
  const ground = prepareTree();
  const outside = prepareTree({ secret: 'not yours' });
  symlinkSync(outside.at('secret'), ground.at('link'));
  symlinkSync(outside.path, ground.at('dir'));
  const tree = await ground.open(follow());
  const { root } = await tree.capture({ scope });
  expect(await paths(tree, root)).toEqual(['dir', 'link']);
  expect((await tree.store.lacks([sha256('not yours')])).size).toBe(1);
  const disk = onDisk(ground.path);
  await tree.apply(await tree.diff(root, emptyRoot));
  expect(onDisk(ground.path)).toEqual({});
  await tree.apply(await tree.diff(emptyRoot, root));
  expect(onDisk(ground.path)).toEqual(disk);
  expect(readFileSync(outside.at('secret'), 'utf8')).toBe('not yours');
});

test('a directory that is swapped for a link all the time never leads out', async () => {
  const ground = prepareTree({ 'd/a': 'one' });
  const outside = prepareTree();
  const tree = await ground.open(follow());
  const one = (await tree.capture({ scope })).root;
  writeFileSync(ground.at('d/a'), 'two');
  const two = (await tree.capture({ scope })).root;
  const swapper = `
    const fs = require('node:fs');
    const [d, real, outside] = process.argv.slice(1);
    const attempt = (work) => { try { work(); } catch {} };
    for (;;) {
      attempt(() => fs.renameSync(d, real));
      attempt(() => fs.symlinkSync(outside, d));
      attempt(() => fs.unlinkSync(d));
      attempt(() => fs.renameSync(real, d));
    }`;
  const child = spawn(process.execPath, ['-e', swapper, ground.at('d'), ground.at('real'), outside.path]);
  onTestFinished(() => void child.kill('SIGKILL'));
  const changes = await tree.diff(one, two);
  let refusals = 0;
  for (let round = 0; round < 150; round++) {
    await tree.apply(round % 2 === 0 ? reversed(changes) : changes).catch((thrown) => {
      expect(thrown).toMatchObject({ code: 'E_CONFLICT' });
      refusals += 1;
    });
  }
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(onDisk(outside.path)).toEqual({});
  expect(refusals).toBeGreaterThan(0);
  const texts = Object.entries(onDisk(ground.path)).filter(([path]) => path.endsWith('/a'));
  for (const [, text] of texts) expect(['file 644 one', 'file 644 two']).toContain(text);
});

test('what steers programs outside is neither changed nor taken away, and the rest is done', async () => {
  const ground = prepareTree({
    'a.txt': '1',
    '.git/HEAD': 'ref: refs/heads/main\n',
    '.git/objects/x': '',
    '.git/config': '[core]\n',
    '.vscode/tasks.json': '{}',
    'nested/.git/HEAD': 'ref: x\n',
    'nested/.git/objects/y': '',
    'nested/.git/config': '[core]\n\tfsmonitor = touch /tmp/croft-was-here\n',
  });
  const tree = await ground.open();
  const evil = (await tree.capture({ scope })).root;
  writeFileSync(ground.at('nested/.git/config'), '[core]\n');
  writeFileSync(ground.at('.git/config'), '[core]\n\thooksPath = /tmp\n');
  writeFileSync(ground.at('.vscode/tasks.json'), '{"a": 1}');
  writeFileSync(ground.at('a.txt'), '2');
  const now = (await tree.capture({ scope })).root;
  const { refused } = await tree.apply(await tree.diff(now, evil));
  expect(refused).toEqual(['.git/config', '.vscode/tasks.json', 'nested/.git/config']);
  expect(readFileSync(ground.at('nested/.git/config'), 'utf8')).toBe('[core]\n');
  expect(readFileSync(ground.at('a.txt'), 'utf8')).toBe('1');
  const gone = await tree.diff((await tree.capture({ scope })).root, emptyRoot);
  expect((await tree.apply(gone)).refused).toContain('.vscode/tasks.json');
  expect(existsSync(ground.at('.vscode/tasks.json'))).toBe(true);
  expect(existsSync('/tmp/croft-was-here')).toBe(false);
});

test('two names of one file are two files, and writing one leaves the other', async () => {
  const ground = prepareTree({ a: 'same' });
  linkSync(ground.at('a'), ground.at('b'));
  const tree = await ground.open();
  const before = (await tree.capture({ scope })).root;
  rmSync(ground.at('a'));
  writeFileSync(ground.at('a'), 'other');
  const after = (await tree.capture({ scope })).root;
  const changes = await tree.diff(before, after);
  expect(changes.map(({ path }) => path)).toEqual(['a']);
  await tree.apply(reversed(changes));
  expect(onDisk(ground.path)).toEqual({ a: 'file 644 same', b: 'file 644 same' });
});

test('paths 200 deep come and go', async () => {
  const ground = prepareTree();
  const deep = Array.from({ length: 200 }, (_, level) => `d${level % 10}`).join('/');
  mkdirSync(ground.at(deep), { recursive: true });
  writeFileSync(ground.at(`${deep}/f`), 'deep');
  const tree = await ground.open(follow());
  const { root } = await tree.capture({ scope });
  expect(await paths(tree, root)).toEqual([`${deep}/f`]);
  await tree.apply(await tree.diff(root, emptyRoot));
  expect(onDisk(ground.path)).toEqual({});
  await tree.apply(await tree.diff(emptyRoot, root));
  expect(readFileSync(ground.at(`${deep}/f`), 'utf8')).toBe('deep');
  expect((await tree.capture({ scope })).root).toBe(root);
});

test('content that is nowhere changes nothing', async () => {
  const ground = prepareTree({ a: '1', b: '1' });
  const tree = await ground.open();
  const { root } = await tree.capture({ scope });
  const [a, b] = [(await tree.entry(root, 'a'))!, (await tree.entry(root, 'b'))!];
  const disk = onDisk(ground.path);
  const lost = { ...b, hash: sha256('never kept'), size: 10 };
  const changes = [
    { path: 'a', before: a, after: { ...a, mode: 0o600 } },
    { path: 'b', before: b, after: lost },
  ];
  await expect(tree.apply(changes)).rejects.toMatchObject({ code: 'E_STORAGE_FAILED' });
  // Somebody else has it, and says the truth or not.
  async function* lie() {
    yield Buffer.from('something');
  }
  await expect(tree.apply(changes, { read: lie })).rejects.toMatchObject({ code: 'E_STORAGE_FAILED' });
  expect(onDisk(ground.path)).toEqual(disk);
  async function* truth() {
    yield Buffer.from('never ');
    yield Buffer.from('kept');
  }
  await tree.apply(changes, { read: truth });
  expect(onDisk(ground.path)).toEqual({ a: 'file 600 1', b: 'file 644 never kept' });
  const after = await tree.capture({ scope });
  expect((await tree.store.read((await tree.entry(after.root, 'b'))!.hash)).toString()).toBe('never kept');
});

test('paths that lead anywhere else are refused before anything is done', async () => {
  const ground = prepareTree();
  const tree = await ground.open();
  const after = { kind: 'file', mode: 0o644, size: 0, hash: emptyRoot } as const;
  for (const path of ['../x', '/etc/x', 'a/../../x', '', 'a//b', 'a/', '.', 'x\0y', `${'n'.repeat(256)}`]) {
    await expect(tree.apply([{ path, after }])).rejects.toMatchObject({ code: 'E_INVALID_PATH' });
    await expect(tree.amend(emptyRoot, [{ path, after }])).rejects.toMatchObject({ code: 'E_INVALID_PATH' });
  }
});

test('a capture that is ended keeps nothing of it for certain, and the next is whole', async () => {
  const ground = prepareTree();
  for (let file = 0; file < 500; file++) writeFileSync(ground.at(`${file}`), `${file}`.repeat(2000));
  const tree = await ground.open();
  await expect(tree.capture({ scope, signal: AbortSignal.abort() })).rejects.toThrow();
  const controller = new AbortController();
  const ended = tree.capture({ scope, signal: controller.signal });
  setTimeout(() => controller.abort(), 1);
  await ended.catch(() => {});
  const { root, missed } = await tree.capture({ scope });
  expect(missed).toEqual([]);
  const hashes = (await Array.fromAsync(tree.entries(root))).map(({ entry }) => entry.hash);
  expect(hashes).toHaveLength(500);
  expect((await tree.store.lacks([...hashes, root])).size).toBe(0);
});

test('says what was touched, to each who asks, and tells who watches', async () => {
  const ground = prepareTree({ a: '1', 'd/b': '1' });
  const tree = await ground.open(follow());
  expect(await tree.touchedSince('one')).toBe('everything');
  expect(await tree.touchedSince('one')).toEqual(new Set());
  const told: { path: string; type: string }[] = [];
  const controller = new AbortController();
  tree.watch((changes) => told.push(...changes), controller.signal);
  writeFileSync(ground.at('a'), '22');
  writeFileSync(ground.at('new'), 'n');
  rmSync(ground.at('d'), { recursive: true });
  await vi.waitFor(
    () => {
      expect(told).toContainEqual({ path: 'a', type: 'write' });
      expect(told).toContainEqual({ path: 'new', type: 'create' });
      expect(told).toContainEqual({ path: 'd/b', type: 'remove' });
    },
    { timeout: 20_000 },
  );
  expect(await tree.touchedSince('one')).toEqual(new Set(['a', 'new', 'd', 'd/b']));
  expect(await tree.touchedSince('two')).toBe('everything');
  controller.abort();
  const count = told.length;
  writeFileSync(ground.at('a'), '333');
  expect(await tree.touchedSince('two')).toEqual(new Set(['a']));
  expect(told).toHaveLength(count);
});
