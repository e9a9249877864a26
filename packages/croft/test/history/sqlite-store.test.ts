import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { openSqliteStore } from '../../src/history/sqlite-store.ts';
import { sha256 } from '../../src/lib/sha256.ts';
import { contentOf, describeHistoryStore, treeOf } from '../contracts/history-store.ts';
import { makeDirectory } from '../harness.ts';

function place(): string {
  const directory = makeDirectory();
  onTestFinished(() => directory[Symbol.dispose]());
  return directory.at('new/history.db');
}

describeHistoryStore('sqlite', async () => {
  const path = place();
  return { store: openSqliteStore(path), reopen: async () => openSqliteStore(path) };
});

test('nobody else can read the file', async () => {
  const path = place();
  await using store = openSqliteStore(path);
  await store.keep([contentOf('secret')]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(`${path}-wal`).mode & 0o777).toBe(0o600);
  expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700);
});

test.each([
  ['small', Buffer.from('was right')],
  ['in pieces', Buffer.alloc(2_500_000, 'r')],
])('content that has rotted is not given: %s', async (_, bytes) => {
  const path = place();
  const content = contentOf(bytes);
  {
    await using store = openSqliteStore(path);
    await store.keep([content]);
  }
  const database = new DatabaseSync(path);
  database.exec("UPDATE contents SET bytes = CAST('is wrong.' AS BLOB) WHERE bytes IS NOT NULL");
  database.exec('UPDATE pieces SET bytes = zeroblob(length(bytes)) WHERE part = 1');
  database.close();
  await using store = openSqliteStore(path);
  await expect(store.read(content.hash)).rejects.toMatchObject({ code: 'E_STORAGE_FAILED' });
  await expect(Array.fromAsync(store.open(content.hash))).rejects.toMatchObject({ code: 'E_STORAGE_FAILED' });
});

test('a rotten listing stops a collection: what it held is not known', async () => {
  const path = place();
  const tree = treeOf({ a: 'kept' });
  await using store = openSqliteStore(path);
  await store.keep([...tree, contentOf('dead')]);
  const database = new DatabaseSync(path);
  database.prepare('UPDATE contents SET bytes = ? WHERE hash = ?').run('rot', Buffer.from(tree.at(-1)!.hash, 'hex'));
  database.close();
  await expect(store.collect([tree.at(-1)!.hash])).rejects.toMatchObject({ code: 'E_STORAGE_FAILED' });
  expect(await store.lacks([contentOf('dead').hash, tree[0]!.hash])).toEqual(new Set());
});

test('what a note names is never collected, whatever the caller believes', async () => {
  await using store = openSqliteStore(place());
  const tree = treeOf({ a: 'noted' });
  await store.keep(tree, [{ kind: 'checkpoint', name: '1', note: { before: tree.at(-1)!.hash } }]);
  await store.collect([]);
  expect(await store.lacks(tree.map(({ hash }) => hash))).toEqual(new Set());
  await store.dropNotes('checkpoint', ['1']);
  await store.collect([]);
  expect((await store.lacks(tree.map(({ hash }) => hash))).size).toBe(2);
});

test('what somebody is told is there stays, also while another server collects', async () => {
  const path = place();
  await using store = openSqliteStore(path);
  const [asked, given, neither] = ['asked', 'given', 'neither'].map((text) => contentOf(text));
  await store.keep([asked!, given!, neither!]);
  // As it is between the mark and the sweep of another.
  const database = new DatabaseSync(path);
  database.exec('UPDATE meta SET generation = generation + 1, collecting = 1');
  expect((await store.lacks([asked!.hash])).size).toBe(0);
  await store.keep([given!]);
  const swept = database.prepare('DELETE FROM contents WHERE generation < (SELECT generation FROM meta)').run();
  expect(swept.changes).toBe(1);
  database.close();
  expect(await store.lacks([asked!.hash, given!.hash, neither!.hash])).toEqual(new Set([neither!.hash]));
});

test('collecting gives room back, and says so by its epoch', async () => {
  await using store = openSqliteStore(place());
  await store.keep([contentOf(Buffer.alloc(3_000_000, 'a'))]);
  const [size, epoch] = [await store.size(), await store.epoch()];
  expect(size).toBeGreaterThan(3_000_000);
  expect(await store.epoch()).toBe(epoch);
  await store.collect([]);
  expect(await store.size()).toBeLessThan(200_000);
  expect(await store.epoch()).not.toBe(epoch);
});

test('a full store refuses all of a call, and works on when there is room', async () => {
  await using store = openSqliteStore(place(), { maxBytes: 2_000_000 });
  const small = contentOf('small');
  const notes = [{ kind: 'snapshot' as const, name: 'n', note: {} }];
  const large = contentOf(Buffer.alloc(4_000_000, 'l'));
  await expect(store.keep([small, large], notes)).rejects.toMatchObject({ code: 'E_STORAGE_FULL' });
  expect((await store.lacks([small.hash])).size).toBe(1);
  expect(await store.notes('snapshot')).toEqual([]);
  await store.keep([small], notes);
  expect((await store.read(small.hash)).toString()).toBe('small');
});

test('a file that is no database is not written over', async () => {
  using directory = makeDirectory({
    'history.db': 'these are somebody’s notes, and long enough to be looked at\n'.repeat(30),
  });
  await using store = openSqliteStore(directory.at('history.db'));
  await expect(store.keep([contentOf('x')])).rejects.toMatchObject({ code: 'E_STORAGE_FAILED' });
});

test('kill −9 in the middle loses nothing that was acknowledged, and leaves no note without its contents', async () => {
  const path = place();
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
      expect(await store.lacks(hashes)).toEqual(new Set());
      for (const hash of hashes) expect(sha256(await store.read(hash))).toBe(hash);
    }
  }
  expect(acknowledged.size).toBeGreaterThanOrEqual(78);
}, 60_000);
