import { createHash } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Content, HistoryStore } from '../../src/core/history/ports/history-store.ts';
import { emptyTreeHash } from '../../src/core/history/ports/tree.ts';
import { encodeListing, type ListedEntry } from '../../src/core/history/trees/listing-codec.ts';
import { sha256 } from '../../src/lib/crypto/sha256.ts';

export interface HistoryStoreFixture {
  readonly store: HistoryStore;
  /** The same store, opened by another server. */
  reopen(): Promise<HistoryStore>;
}

export function contentOf(text: string | Uint8Array): Content {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  return { hash: sha256(bytes), size: bytes.byteLength, bytes };
}

/** The contents of a directory of files, its listing last. */
export function treeOf(files: Record<string, string>, directories: Record<string, Content> = {}): Content[] {
  const contents = Object.values(files).map(contentOf);
  const entries: ListedEntry[] = [
    ...Object.entries(files).map(([name, text]) => {
      const { hash, size } = contentOf(text);
      return { name, kind: 'file' as const, mode: 0o644, size, hash };
    }),
    ...Object.entries(directories).map(([name, { hash }]) => {
      return { name, kind: 'directory' as const, mode: 0o755, size: 0, hash };
    }),
  ];
  return [...contents, contentOf(encodeListing(entries))];
}

/** `count` pieces of a megabyte each that are never in memory together. */
function inPieces(count: number): { content: Content; most: () => number } {
  const piece = (index: number) => Buffer.alloc(1024 * 1024 - 7, index + 1);
  const hasher = createHash('sha256');
  for (let index = 0; index < count; index++) hasher.update(piece(index));
  let [given, most] = [0, 0];
  async function* bytes() {
    for (let index = 0; index < count; index++) {
      given += 1;
      most = Math.max(most, given);
      yield piece(index);
    }
  }
  return {
    content: { hash: hasher.digest('hex'), size: count * (1024 * 1024 - 7), bytes },
    most: () => most,
  };
}

async function collected(pieces: AsyncIterable<Buffer>): Promise<{ hash: string; size: number; pieces: number }> {
  const hasher = createHash('sha256');
  let [size, count] = [0, 0];
  for await (const piece of pieces) {
    hasher.update(piece);
    size += piece.byteLength;
    count += 1;
  }
  return { hash: hasher.digest('hex'), size, pieces: count };
}

/** The contract of every history store. */
export function describeHistoryStore(name: string, open: () => Promise<HistoryStoreFixture>): void {
  const prepare = async () => {
    const fixture = await open();
    onTestFinished(() => fixture.store[Symbol.asyncDispose]());
    return fixture;
  };
  const another = async (fixture: HistoryStoreFixture) => {
    const store = await fixture.reopen();
    onTestFinished(() => store[Symbol.asyncDispose]());
    return store;
  };

  describe(`history store: ${name}`, () => {
    test('returns stored content, also to another server', async () => {
      const fixture = await prepare();
      const all = [contentOf('one'), contentOf(''), contentOf(Buffer.from([0, 255, 10, 0]))];
      await fixture.store.put(all);
      for (const store of [fixture.store, await another(fixture)]) {
        for (const { hash, bytes } of all) expect(await store.read(hash)).toEqual(Buffer.from(bytes as Uint8Array));
      }
    });

    test('names missing content, and refuses a tree without it', async () => {
      const { store } = await prepare();
      const [here, away] = [contentOf('here'), contentOf('away')];
      await store.put([here]);
      expect(await store.findMissing([here.hash, away.hash, away.hash])).toEqual(new Set([away.hash]));
      expect(await store.findMissing([])).toEqual(new Set());
      await expect(store.read(away.hash)).rejects.toMatchObject({ code: 'E_STORAGE_FAILED' });
      await expect(collected(store.open(away.hash))).rejects.toMatchObject({ code: 'E_STORAGE_FAILED' });
    });

    test('stores equal content once', async () => {
      const { store } = await prepare();
      const bytes = contentOf(Buffer.alloc(300_000, 'x'));
      await store.put([bytes, bytes]);
      const size = await store.size();
      for (let round = 0; round < 5; round++) await store.put([bytes, contentOf(bytes.bytes as Uint8Array)]);
      expect(await store.size()).toBeLessThan(size + 300_000);
      expect(await store.findMissing([bytes.hash])).toEqual(new Set());
    });

    test('stores content in pieces and returns it in pieces', async () => {
      const { store } = await prepare();
      const { content } = inPieces(12);
      await store.put([content, contentOf('beside')]);
      const back = await collected(store.open(content.hash));
      expect(back).toMatchObject({ hash: content.hash, size: content.size });
      expect(back.pieces).toBeGreaterThan(1);
      expect(sha256(await store.read(content.hash))).toBe(content.hash);
    });

    test('stores large content that comes whole', async () => {
      const { store } = await prepare();
      const content = contentOf(Buffer.alloc(3 * 1024 * 1024 + 1, 'z'));
      await store.put([content]);
      expect(await collected(store.open(content.hash))).toMatchObject({ hash: content.hash, size: content.size });
    });

    test('refuses pieces that do not match their hash, with everything sent beside them', async () => {
      const { store } = await prepare();
      const lie = { ...inPieces(3).content, hash: sha256('something else') };
      const beside = contentOf('beside');
      const notes = [{ kind: 'snapshot' as const, name: 'n', note: { root: beside.hash } }];
      await expect(store.put([beside, lie], notes)).rejects.toMatchObject({ code: 'E_STORAGE_FAILED' });
      expect((await store.findMissing([lie.hash])).has(lie.hash)).toBe(true);
      expect(await store.note('snapshot', 'n')).toBeUndefined();
    });

    test('an error while the pieces are read is thrown, and no note is stored', async () => {
      const { store } = await prepare();
      const { content } = inPieces(2);
      async function* bytes() {
        yield Buffer.from('a');
        throw new Error('changed meanwhile');
      }
      const notes = [{ kind: 'snapshot' as const, name: 'n', note: {} }];
      await expect(store.put([{ ...content, bytes }], notes)).rejects.toThrow('changed meanwhile');
      expect(await store.note('snapshot', 'n')).toBeUndefined();
      await store.put([content]);
      expect(await collected(store.open(content.hash))).toMatchObject({ hash: content.hash });
    });

    test('notes: by kind and name, the last write counts, listed by name, gone when removed', async () => {
      const fixture = await prepare();
      const { store } = fixture;
      const put = (name: string, note: Record<string, unknown>) => store.put([], [{ kind: 'snapshot', name, note }]);
      for (const name of ['b', 'a/b c', 'ä', 'z%2e', 'b']) await put(name, { name, at: 1 });
      await put('b', { name: 'b', at: 2, deep: { list: [1, null, 'x'] } });
      await store.put([], [{ kind: 'checkpoint', name: 'b', note: { other: true } }]);
      for (const each of [store, await another(fixture)]) {
        expect(await each.note('snapshot', 'b')).toEqual({ name: 'b', at: 2, deep: { list: [1, null, 'x'] } });
        expect(await each.note('checkpoint', 'b')).toEqual({ other: true });
        expect(await each.note('snapshot', 'c')).toBeUndefined();
        expect((await each.notes('snapshot')).map((note) => note.name)).toEqual(['a/b c', 'b', 'z%2e', 'ä']);
        expect(await each.notes('mark')).toEqual([]);
      }
      await store.dropNotes('snapshot', ['b', 'nothing']);
      expect((await store.notes('snapshot')).map((note) => note.name)).toEqual(['a/b c', 'z%2e', 'ä']);
      expect(await store.note('checkpoint', 'b')).toEqual({ other: true });
    });

    test('collect keeps everything that live trees refer to, at any depth, and removes the rest', async () => {
      const fixture = await prepare();
      const { store } = fixture;
      const inner = treeOf({ 'deep.txt': 'deep', 'shared.txt': 'shared' });
      const outer = treeOf({ 'top.txt': 'top' }, { inner: inner.at(-1)! });
      const dead = treeOf({ 'dead.txt': 'dead'.repeat(1000), 'shared.txt': 'shared' });
      await store.put([...inner, ...outer, ...dead]);
      const freed = await store.collectGarbage([outer.at(-1)!.hash, emptyTreeHash]);
      const hashes = (contents: Content[]) => contents.map(({ hash }) => hash);
      for (const each of [store, await another(fixture)]) {
        expect(await each.findMissing(hashes([...inner, ...outer]))).toEqual(new Set());
        expect(await each.findMissing(hashes(dead))).toEqual(new Set([dead[0]!.hash, dead.at(-1)!.hash]));
      }
      expect(freed).toBeGreaterThanOrEqual(4000);
      expect(await store.collectGarbage([outer.at(-1)!.hash])).toBe(0);
    });

    test('garbage collection does not follow a file that looks like a listing', async () => {
      const { store } = await prepare();
      const inner = treeOf({ 'deep.txt': 'deep' });
      const listing = (inner.at(-1)!.bytes as Buffer).toString();
      // The file comes first in the listing: marking it must not keep the store from entering the directory.
      const outer = treeOf({ a: listing }, { b: inner.at(-1)! });
      await store.put([...inner, ...outer]);
      await store.collectGarbage([outer.at(-1)!.hash]);
      expect(await store.findMissing([...inner, ...outer].map(({ hash }) => hash))).toEqual(new Set());
    });

    test('content stored during garbage collection stays', async () => {
      const fixture = await prepare();
      const [store, other] = [fixture.store, await another(fixture)];
      await store.put(Array.from({ length: 300 }, (_, index) => contentOf(`dead ${index}`)));
      const kept: Content[] = [];
      let isOver = false;
      const collecting = store.collectGarbage([emptyTreeHash]).finally(() => {
        isOver = true;
      });
      for (let round = 0; !isOver && round < 200; round++) {
        const content = contentOf(`new ${round}`);
        await (round % 2 === 0 ? store : other).put([content]);
        if (!isOver) kept.push(content);
      }
      await collecting;
      expect((await store.findMissing([contentOf('dead 1').hash])).size).toBe(1);
      // What was stored before the mark began is not marked; that is at most the first.
      expect((await store.findMissing(kept.slice(1).map(({ hash }) => hash))).size).toBe(0);
    });

    test('two servers store at the same time, and both have everything', async () => {
      const fixture = await prepare();
      const stores = [fixture.store, await another(fixture)];
      const rounds = Array.from({ length: 20 }, (_, index) => index);
      await Promise.all(
        stores.flatMap((store, which) =>
          rounds.map((round) =>
            store.put(
              [contentOf(`${which} ${round}`), contentOf(`both ${round}`)],
              [{ kind: 'mark', name: `${which}-${round}`, note: { round } }],
            ),
          ),
        ),
      );
      for (const store of stores) {
        const hashes = rounds
          .flatMap((round) => [`0 ${round}`, `1 ${round}`, `both ${round}`])
          .map((text) => sha256(text));
        expect(await store.findMissing(hashes)).toEqual(new Set());
        expect(await store.notes('mark')).toHaveLength(40);
      }
    });
  });
}
