import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { zstdCompressSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { openSqliteStore } from '../../src/history/store/sqlite-store.ts';
import { sha256 } from '../../src/lib/crypto/sha256.ts';
import { contentOf, describeHistoryStore, treeOf } from '../contracts/history-store.ts';
import { makeDirectory } from '../support/harness.ts';

function newStorePath(): string {
  const directory = makeDirectory();
  onTestFinished(() => directory[Symbol.dispose]());
  return directory.at('new/history.db');
}

describeHistoryStore('sqlite', async () => {
  const path = newStorePath();
  return { store: openSqliteStore(path), reopen: async () => openSqliteStore(path) };
});

test('the file is readable only for its owner', async () => {
  const path = newStorePath();
  await using store = openSqliteStore(path);
  await store.put([contentOf('secret')]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(`${path}-wal`).mode & 0o777).toBe(0o600);
  expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700);
});

test.each([
  ['small', Buffer.from('was right')],
  ['in pieces', Buffer.alloc(2_500_000, 'r')],
])('damaged content is refused: %s', async (_, bytes) => {
  const path = newStorePath();
  const content = contentOf(bytes);
  {
    await using store = openSqliteStore(path);
    await store.put([content]);
  }
  const database = new DatabaseSync(path);
  database.exec("UPDATE contents SET bytes = CAST('is wrong.' AS BLOB) WHERE bytes IS NOT NULL");
  database.exec('UPDATE pieces SET bytes = zeroblob(length(bytes)) WHERE part = 1');
  database.close();
  await using store = openSqliteStore(path);
  await expect(store.read(content.hash)).rejects.toMatchObject({ code: 'E_STORAGE_FAILED' });
  await expect(Array.fromAsync(store.open(content.hash))).rejects.toMatchObject({ code: 'E_STORAGE_FAILED' });
});

test('a damaged listing stops garbage collection, because its entries are unknown', async () => {
  const path = newStorePath();
  const tree = treeOf({ a: 'kept' });
  await using store = openSqliteStore(path);
  await store.put([...tree, contentOf('dead')]);
  const database = new DatabaseSync(path);
  database.prepare('UPDATE contents SET bytes = ? WHERE hash = ?').run('rot', Buffer.from(tree.at(-1)!.hash, 'hex'));
  database.close();
  await expect(store.collectGarbage([tree.at(-1)!.hash])).rejects.toMatchObject({ code: 'E_STORAGE_FAILED' });
  expect(await store.findMissing([contentOf('dead').hash, tree[0]!.hash])).toEqual(new Set());
});

test('content that a note refers to is never collected, whatever roots the caller gives', async () => {
  await using store = openSqliteStore(newStorePath());
  const tree = treeOf({ a: 'noted' });
  await store.put(tree, [{ kind: 'checkpoint', name: '1', note: { before: tree.at(-1)!.hash } }]);
  await store.collectGarbage([]);
  expect(await store.findMissing(tree.map(({ hash }) => hash))).toEqual(new Set());
  await store.dropNotes('checkpoint', ['1']);
  await store.collectGarbage([]);
  expect((await store.findMissing(tree.map(({ hash }) => hash))).size).toBe(2);
});

test('content reported as present stays, also while another server collects garbage', async () => {
  const path = newStorePath();
  await using store = openSqliteStore(path);
  const [asked, given, neither] = ['asked', 'given', 'neither'].map((text) => contentOf(text));
  await store.put([asked!, given!, neither!]);
  // The state between the mark and the sweep of another server.
  const database = new DatabaseSync(path);
  database.exec('UPDATE meta SET generation = generation + 1, collecting = 1');
  expect((await store.findMissing([asked!.hash])).size).toBe(0);
  await store.put([given!]);
  const swept = database.prepare('DELETE FROM contents WHERE generation < (SELECT generation FROM meta)').run();
  expect(swept.changes).toBe(1);
  database.close();
  expect(await store.findMissing([asked!.hash, given!.hash, neither!.hash])).toEqual(new Set([neither!.hash]));
});

test('garbage collection frees space and increases the epoch', async () => {
  await using store = openSqliteStore(newStorePath());
  await store.put([contentOf(Buffer.alloc(3_000_000, 'a'))]);
  const [size, epoch] = [await store.size(), await store.epoch()];
  expect(size).toBeGreaterThan(3_000_000);
  expect(await store.epoch()).toBe(epoch);
  await store.collectGarbage([]);
  expect(await store.size()).toBeLessThan(200_000);
  expect(await store.epoch()).not.toBe(epoch);
});

const program = (lines: number) =>
  Array.from({ length: lines }, (_, line) => `const value${line} = compute(${line * 7919}, 'text ${line}');`).join(
    '\n',
  );
/** Listed below `root`, so that a collection leaves them. */
const kinds = {
  text: program(400),
  small: 'x',
  empty: '',
  noise: randomBytes(75_000).toString('base64'),
  large: program(60_000),
};

test('kept content is packed by garbage collection, and comes back unchanged', async () => {
  const path = newStorePath();
  await using store = openSqliteStore(path);
  const tree = treeOf(kinds);
  await store.put(tree);
  const [before, grown] = [await store.size(), await store.grownSinceCollection?.()];
  expect(grown).toBeGreaterThan(before / 2);
  await store.collectGarbage([tree.at(-1)!.hash]);
  expect(await store.size()).toBeLessThan(before / 3);
  expect(await store.grownSinceCollection?.()).toBeLessThan(100_000);
  await using other = openSqliteStore(path);
  for (const { hash, bytes } of tree) {
    expect(await other.read(hash)).toEqual(Buffer.from(bytes as Buffer));
    expect(Buffer.concat(await Array.fromAsync(store.open(hash)))).toEqual(Buffer.from(bytes as Buffer));
  }
  const packed = await store.size();
  await store.collectGarbage([tree.at(-1)!.hash]);
  expect(await store.size()).toBeLessThanOrEqual(packed);
});

test.each(['contents', 'pieces'])(
  'packed %s with damage are refused, however large they would become',
  async (table) => {
    const path = newStorePath();
    await using store = openSqliteStore(path);
    const tree = treeOf(kinds);
    await store.put(tree);
    await store.collectGarbage([tree.at(-1)!.hash]);
    const database = new DatabaseSync(path);
    const bomb = zstdCompressSync(Buffer.alloc(50_000_000));
    for (const bytes of [bomb, Buffer.from('not packed at all')]) {
      database.prepare(`UPDATE ${table} SET bytes = ? WHERE packing = 1`).run(bytes);
      const rotten = sha256(table === 'contents' ? kinds.text : kinds.large);
      await expect(store.read(rotten)).rejects.toMatchObject({ code: 'E_STORAGE_FAILED' });
    }
    database.close();
  },
);

test('a database of the first version is opened, and packed', async () => {
  const path = newStorePath();
  const tree = treeOf(kinds);
  {
    await using store = openSqliteStore(path);
    await store.put(tree, [{ kind: 'snapshot', name: 's', note: { root: tree.at(-1)!.hash } }]);
  }
  const database = new DatabaseSync(path);
  for (const table of ['contents', 'pieces']) {
    database.exec(`DROP INDEX ${table}_to_pack`);
    database.exec(`ALTER TABLE ${table} DROP COLUMN packing`);
  }
  database.exec('ALTER TABLE meta DROP COLUMN collected_size; PRAGMA user_version = 1');
  database.close();
  await using store = openSqliteStore(path);
  const before = await store.size();
  expect(await store.read(sha256(kinds.text))).toEqual(Buffer.from(kinds.text));
  await store.collectGarbage([]);
  expect(await store.size()).toBeLessThan(before / 3);
  for (const { hash, bytes } of tree) expect(await store.read(hash)).toEqual(Buffer.from(bytes as Buffer));
});

test('the main thread is free while the store collects garbage', async () => {
  await using store = openSqliteStore(newStorePath());
  const dead = Array.from({ length: 20_000 }, (_, index) => contentOf(`dead ${index} `.repeat(50)));
  await store.put(dead);
  const before = process.threadCpuUsage();
  expect(await store.collectGarbage([])).toBeGreaterThan(10_000_000);
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(200);
});

test('closing a store does not wait for its garbage collection, which the next store repeats', async () => {
  const path = newStorePath();
  const tree = treeOf(kinds);
  const dead = Array.from({ length: 6000 }, (_, index) => contentOf(`dead ${index}`));
  {
    await using store = openSqliteStore(path);
    await store.put([...dead, ...tree]);
    const begun = Promise.withResolvers<void>();
    void store.collectGarbage([tree.at(-1)!.hash], [], begun.resolve);
    await begun.promise;
  }
  await using store = openSqliteStore(path);
  const left = await store.findMissing(dead.map(({ hash }) => hash));
  expect(left.size).toBeLessThan(dead.length);
  expect(await store.findMissing(tree.map(({ hash }) => hash))).toEqual(new Set());
  await store.collectGarbage([tree.at(-1)!.hash]);
  expect((await store.findMissing(dead.map(({ hash }) => hash))).size).toBe(dead.length);
  expect(await store.findMissing(tree.map(({ hash }) => hash))).toEqual(new Set());
});

test('a full store refuses a whole call, and works again when there is space', async () => {
  await using store = openSqliteStore(newStorePath(), { maxBytes: 2_000_000 });
  const small = contentOf('small');
  const notes = [{ kind: 'snapshot' as const, name: 'n', note: {} }];
  const large = contentOf(Buffer.alloc(4_000_000, 'l'));
  await expect(store.put([small, large], notes)).rejects.toMatchObject({ code: 'E_STORAGE_FULL' });
  expect((await store.findMissing([small.hash])).size).toBe(1);
  expect(await store.notes('snapshot')).toEqual([]);
  await store.put([small], notes);
  expect((await store.read(small.hash)).toString()).toBe('small');
});

test('a file that is not a database is not overwritten', async () => {
  using directory = makeDirectory({
    'history.db': 'these are somebody’s notes, and long enough to be looked at\n'.repeat(30),
  });
  await using store = openSqliteStore(directory.at('history.db'));
  await expect(store.put([contentOf('x')])).rejects.toMatchObject({ code: 'E_STORAGE_FAILED' });
});

test('kill −9 loses no acknowledged content, and leaves no note without its contents', async () => {
  const path = newStorePath();
  const writer = join(import.meta.dirname, '../fixtures/history-writer.ts');
  const acknowledged = new Set<string>();
  for (const enough of [1, 17, 60]) {
    const child = spawn(process.execPath, [writer, path, String(enough)], { stdio: ['ignore', 'pipe', 'inherit'] });
    const exited = once(child, 'exit');
    let seen = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      acknowledged.add(line);
      if (++seen === enough) child.kill('SIGKILL');
    }
    expect(await exited).toEqual([null, 'SIGKILL']);
    await using store = openSqliteStore(path);
    const notes = await store.notes('checkpoint');
    const names = new Set(notes.map(({ name }) => name));
    expect([...acknowledged].filter((name) => !names.has(name))).toEqual([]);
    for (const { note } of notes) {
      const hashes = note.hashes as string[];
      expect(await store.findMissing(hashes)).toEqual(new Set());
      for (const hash of hashes) expect(sha256(await store.read(hash))).toBe(hash);
    }
  }
  expect(acknowledged.size).toBeGreaterThanOrEqual(78);
}, 60_000);
