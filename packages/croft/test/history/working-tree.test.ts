import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { emptyTreeHash } from '../../src/core/history/ports/tree.ts';
import type { WorkingTree } from '../../src/core/history/ports/working-tree.ts';
import { openRoot } from '../../src/disk/paths/handles.ts';
import { pinCapturedTrees } from '../../src/history/store/pin-captured-trees.ts';
import { openSqliteStore } from '../../src/history/store/sqlite-store.ts';
import { openWorkingTree } from '../../src/history/working-tree.ts';
import type { Follower } from '../../src/init/followed-tree.ts';
import { sha256 } from '../../src/lib/crypto/sha256.ts';
import { prepareTree } from './trees.ts';
import { createWalkingFollower } from './walking-follower.ts';
import { follow, paths, scope } from './working-tree-fixture.ts';

test('an empty tree has the hash of the empty listing, in every scope', async () => {
  const fixture = prepareTree();
  const tree = await fixture.open();
  for (const each of ['source', 'with-ignored', 'all'] as const)
    expect(await tree.capture({ scope: each })).toEqual({
      root: emptyTreeHash,
      files: 0,
      bytes: 0,
      missed: [],
      late: [],
      cutRules: [],
    });
  expect(await tree.diff(emptyTreeHash, emptyTreeHash)).toEqual([]);
});

test('entries are in order of their whole paths, and each can be looked up', async () => {
  const fixture = prepareTree({ 'a/b': '1', 'a-b': '2', 'a.b/c/d': '3', z: '4' });
  mkdirSync(fixture.at('empty'));
  const tree = await fixture.open();
  const { root } = await tree.capture({ scope });
  expect(await paths(tree, root)).toEqual(['a-b', 'a.b/c/d', 'a/b', 'empty', 'z']);
  expect(await tree.entry(root, 'a.b/c/d')).toEqual({ kind: 'file', mode: 0o644, size: 1, hash: sha256('3') });
  expect(await tree.entry(root, 'a.b/c')).toMatchObject({ kind: 'directory', mode: 0o755 });
  expect(await tree.entry(root, 'a/b/c')).toBeUndefined();
  await expect(tree.entry(root, '../x')).rejects.toMatchObject({ code: 'E_INVALID_PATH' });
});

test('scopes leave out the paths that they name, at any depth', async () => {
  const fixture = prepareTree({
    '.git/HEAD': 'ref: x',
    'sub/.git': 'gitdir: ../.git/modules/sub',
    'sub/a.txt': 'a',
    'b.log': 'b',
    '.gitignore': '*.log\n',
    '.croft-tmp-abc': 'half',
  });
  const tree = await fixture.open();
  const seen = async (each: 'source' | 'with-ignored' | 'all') =>
    paths(tree, (await tree.capture({ scope: each })).root);
  expect(await seen('source')).toEqual(['.gitignore', 'sub/a.txt']);
  expect(await seen('with-ignored')).toEqual(['.gitignore', 'b.log', 'sub/a.txt']);
  expect(await seen('all')).toEqual(['.git/HEAD', '.gitignore', 'b.log', 'sub/.git', 'sub/a.txt']);
});

test('pipes, sockets and devices are left out, without blocking', async () => {
  const fixture = prepareTree({ a: 'a' });
  execFileSync('mkfifo', [fixture.at('pipe')]);
  const tree = await fixture.open(follow());
  expect(await paths(tree, (await tree.capture({ scope })).root)).toEqual(['a']);
  rmSync(fixture.at('a'));
  execFileSync('mkfifo', [fixture.at('a')]);
  expect((await tree.capture({ scope })).root).toBe(emptyTreeHash);
});

test('a write of the same size in the same clock tick as the last read is seen by the next capture', async () => {
  const fixture = prepareTree({ a: '0000' });
  const handle = openRoot(fixture.path);
  onTestFinished(() => closeSync(handle));
  const store = openSqliteStore(`${fixture.data}/history.db`);
  const looking = createWalkingFollower();
  let [isArmed, round] = [false, 0];
  const write = (half: number) => writeFileSync(fixture.at('a'), String(round * 2 + half).padStart(4, '0'));
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
  const keep: typeof store.put = (contents, notes) => {
    if (isArmed) write(1);
    isArmed = false;
    return store.put(contents, notes);
  };
  const tree = await openWorkingTree({ directoryFd: handle, store: { ...store, put: keep }, follower });
  onTestFinished(() => tree[Symbol.asyncDispose]());
  for (round = 1; round < 60; round++) {
    isArmed = true;
    await tree.capture({ scope });
    const { root } = await tree.capture({ scope });
    expect((await tree.entry(root, 'a'))?.hash).toBe(sha256(readFileSync(fixture.at('a'))));
  }
});

test('a file written during a capture is captured whole, and the last capture has its last content', async () => {
  const fixture = prepareTree();
  const texts = new Map(Array.from({ length: 40 }, (_, index) => [sha256(`${index}`.repeat(3000)), index]));
  for (let file = 0; file < 20; file++) writeFileSync(fixture.at(`${file}`), '0'.repeat(3000));
  const tree = await fixture.open(follow());
  let isWriting = true;
  const writing = (async () => {
    for (let round = 0; round < 300; round++) {
      const temporary = fixture.at('next');
      writeFileSync(temporary, `${round % 40}`.repeat(3000));
      renameSync(temporary, fixture.at(`${round % 20}`));
      await setImmediate();
    }
    isWriting = false;
  })();
  while (isWriting) {
    const { root } = await tree.capture({ scope });
    for await (const { entry } of tree.entries(root)) {
      expect(texts.has(entry.hash)).toBe(true);
      expect((await tree.store.findMissing([entry.hash])).size).toBe(0);
    }
  }
  await writing;
  const { root } = await tree.capture({ scope });
  const other = await (await fixture.open()).capture({ scope });
  expect(other.root).toBe(root);
});

test('large files are stored in pieces, and those over the limit only by their hash', async () => {
  const fixture = prepareTree({ small: 's' });
  const large = Buffer.alloc(9 * 1024 * 1024, 'large ');
  writeFileSync(fixture.at('large'), large);
  const tree = await fixture.open();
  const limited = await tree.capture({ scope, maxFileBytes: 1_000_000 });
  expect(limited.missed).toEqual(['large']);
  expect((await tree.entry(limited.root, 'large'))?.hash).toBe(sha256(large));
  expect((await tree.store.findMissing([sha256(large)])).size).toBe(1);
  expect((await tree.capture({ scope, maxFileBytes: 1_000_000 })).missed).toEqual(['large']);

  const whole = await tree.capture({ scope });
  expect(whole).toEqual({
    root: limited.root,
    files: 2,
    bytes: 1 + large.byteLength,
    missed: [],
    late: [],
    cutRules: [],
  });
  truncateSync(fixture.at('large'), 10);
  const { root } = await tree.capture({ scope });
  await tree.apply(await tree.diff(root, whole.root));
  expect(readFileSync(fixture.at('large')).equals(large)).toBe(true);
});

/** Waits until the clock has moved past the read files, and stores the index. */
async function passTick(tree: WorkingTree, file: string): Promise<void> {
  await vi.waitFor(() => expect(Date.now() - statSync(file).ctimeMs).toBeGreaterThan(50));
  await tree.capture({ scope });
  await tree[Symbol.asyncDispose]();
}

test('files read once are not read again after a restart, unless they changed', async () => {
  const fixture = prepareTree({ 'a/b': 'content', c: 'other' });
  const first = await fixture.open();
  await first.capture({ scope });
  await passTick(first, fixture.at('c'));
  const index = new DatabaseSync(`${fixture.data}/index.db`);
  // An answer with this value means that the file was not read.
  const wrong = index.prepare("SELECT hash FROM files WHERE path = CAST('c' AS BLOB)").get()?.hash as Uint8Array;
  index.prepare("UPDATE files SET hash = ? WHERE path = CAST('a/b' AS BLOB)").run(wrong);
  index.close();
  const second = await fixture.open();
  const { root } = await second.capture({ scope });
  expect((await second.entry(root, 'a/b'))?.hash).toBe(sha256('other'));
  await second[Symbol.asyncDispose]();
  writeFileSync(fixture.at('a/b'), 'changed');
  const third = await fixture.open();
  expect((await third.entry((await third.capture({ scope })).root, 'a/b'))?.hash).toBe(sha256('changed'));
});

test('content lost by the store is stored again', async () => {
  const fixture = prepareTree({ 'a/b': 'content', c: 'other' });
  const first = await fixture.open();
  const { root } = await first.capture({ scope });
  await passTick(first, fixture.at('c'));
  await using store = openSqliteStore(`${fixture.data}/history.db`);
  const all = [root, sha256('content'), sha256('other')];
  const second = await fixture.open();
  for (let round = 0; round < 2; round++) {
    await store.collectGarbage([]);
    expect((await store.findMissing(all)).size).toBe(3);
    expect((await second.capture({ scope })).root).toBe(root);
    expect((await store.findMissing(all)).size).toBe(0);
  }
});

test('the last captured tree survives garbage collection', async () => {
  const fixture = prepareTree({ 'a/b': 'content' });
  const tree = await fixture.open();
  const { root } = await tree.capture({ scope });
  await tree.store.collectGarbage([]);
  expect((await tree.store.findMissing([root, sha256('content')])).size).toBe(0);
  appendFileSync(fixture.at('new'), 'x');
  const next = await tree.capture({ scope });
  expect(await tree.diff(root, next.root)).toMatchObject([{ path: 'new' }]);
});

test('captures go on during garbage collection, without a loss', async () => {
  const fixture = prepareTree({ 'a/b': 'content' });
  for (let file = 0; file < 200; file++) writeFileSync(fixture.at(`a/${file}`), `${file}`);
  const tree = await fixture.open();
  await tree.capture({ scope });
  let collections = 0;
  let isOver = false;
  const collecting = (async () => {
    for (; !isOver; collections++) await tree.store.collectGarbage([]);
  })();
  for (let round = 0; round < 400; round++) {
    // Contents that were there before, and are perhaps swept just now.
    for (const file of ['x', 'a/y', 'a/7']) writeFileSync(fixture.at(file), `${round % 40} of ${file}`);
    if (round % 3 === 0) rmSync(fixture.at('a/y'));
    const { root } = await tree.capture({ scope });
    const hashes = [root, ...(await Array.fromAsync(tree.entries(root))).map(({ entry }) => entry.hash)];
    expect(await tree.store.findMissing(hashes), `round ${round}`).toEqual(new Set());
  }
  isOver = true;
  await collecting;
  expect(collections).toBeGreaterThan(1);
});

test('no capture waits for the end of garbage collection', async () => {
  const fixture = prepareTree();
  await using store = openSqliteStore(`${fixture.data}/other.db`);
  const end = Promise.withResolvers<number>();
  const events: string[] = [];
  const collect: typeof store.collectGarbage = async (_live, _dropped, onBegun) => {
    onBegun?.();
    return end.promise;
  };
  const { pinned } = pinCapturedTrees({ ...store, collectGarbage: collect }, async (begin) => {
    await begin();
    events.push('begun');
  });
  const collected = pinned.collectGarbage([]).then(() => events.push('collected'));
  await vi.waitFor(() => expect(events).toEqual(['begun']));
  end.resolve(0);
  await collected;
  expect(events).toEqual(['begun', 'collected']);
});

test('an aborted capture leaves no result behind, and the next capture is complete', async () => {
  const fixture = prepareTree();
  for (let file = 0; file < 500; file++) writeFileSync(fixture.at(`${file}`), `${file}`.repeat(2000));
  const tree = await fixture.open();
  await expect(tree.capture({ scope, signal: AbortSignal.abort() })).rejects.toThrow();
  const controller = new AbortController();
  const ended = tree.capture({ scope, signal: controller.signal });
  setTimeout(() => controller.abort(), 1);
  await ended.catch(() => {});
  const { root, missed } = await tree.capture({ scope });
  expect(missed).toEqual([]);
  const hashes = (await Array.fromAsync(tree.entries(root))).map(({ entry }) => entry.hash);
  expect(hashes).toHaveLength(500);
  expect((await tree.store.findMissing([...hashes, root])).size).toBe(0);
});

test('lists touched paths for each reader, and notifies watchers', async () => {
  const fixture = prepareTree({ a: '1', 'd/b': '1' });
  const tree = await fixture.open(follow());
  expect(await tree.touchedSince('one')).toBe('everything');
  expect(await tree.touchedSince('one')).toEqual(new Set());
  const reported: { path: string; type: string }[] = [];
  const controller = new AbortController();
  tree.watch((changes) => reported.push(...changes), controller.signal);
  writeFileSync(fixture.at('a'), '22');
  writeFileSync(fixture.at('new'), 'n');
  rmSync(fixture.at('d'), { recursive: true });
  await vi.waitFor(
    () => {
      expect(reported).toContainEqual({ path: 'a', type: 'write' });
      expect(reported).toContainEqual({ path: 'new', type: 'create' });
      expect(reported).toContainEqual({ path: 'd/b', type: 'remove' });
    },
    { timeout: 20_000 },
  );
  expect(await tree.touchedSince('one')).toEqual(new Set(['a', 'new', 'd', 'd/b']));
  expect(await tree.touchedSince('two')).toBe('everything');
  controller.abort();
  const count = reported.length;
  writeFileSync(fixture.at('a'), '333');
  expect(await tree.touchedSince('two')).toEqual(new Set(['a']));
  expect(reported).toHaveLength(count);
});
