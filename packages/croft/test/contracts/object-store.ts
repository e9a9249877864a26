import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ObjectStore, ResendableBody, StoredObject } from '../../src/core/storage/object-store.ts';

export interface ObjectStoreFixture {
  /** An empty store. */
  readonly store: ObjectStore;
  /** The same objects as another server sees them. */
  reopen(): ObjectStore;
  /** The same bucket below another prefix. */
  beside(): ObjectStore;
}

export function sendable(content: string | Buffer): ResendableBody {
  const bytes = Buffer.from(content);
  return { size: bytes.length, open: () => bytes };
}

export async function textOf(found: StoredObject | 'unchanged' | undefined): Promise<string | undefined> {
  if (found === undefined || found === 'unchanged') return found;
  return (await buffer(found.body)).toString();
}

export async function keysIn(store: ObjectStore, prefix = ''): Promise<string[]> {
  return (await Array.fromAsync(store.list(prefix))).flatMap((page) => page.map(({ key }) => key));
}

const strange = [
  ...['a b', 'ü', '😀', '+', '%2F', '%', '&<>"\'', '?x=1#y', "!'()*~", 'a//b', '/abs', '..', '../x', '.', './y', 'a/'],
  ...['nl\nnl', 'tab\t', '\u0001', '\ufeff', '$;:@=,', '\\', 'é', 'e\u0301', '{a}', '[b]', '^`|', 'x'.repeat(900)],
];

/** The contract of every object store. */
export function describeObjectStore(name: string, open: () => Promise<ObjectStoreFixture>): void {
  const prepare = async () => {
    const fixture = await open();
    onTestFinished(() => fixture.store.close());
    return fixture;
  };

  describe(`object store: ${name}`, () => {
    describeContents(prepare);
    describeConditions(prepare);
    describeMany(prepare);
  });
}

type Prepare = () => Promise<ObjectStoreFixture>;

function describeContents(prepare: Prepare): void {
  test('returns stored content with its metadata, also to another server', async () => {
    const { store, reopen } = await prepare();
    const metadata = { 'croft-link': '../ä b → %41 %', 'croft-mode': '755' };
    const put = await store.put('a/b.txt', sendable('hello'), { metadata, contentType: 'text/plain' });
    const found = (await reopen().get('a/b.txt')) as StoredObject;
    expect(put).toEqual({ etag: found.etag });
    expect(found).toMatchObject({ key: 'a/b.txt', size: 5, metadata });
    expect(found.etag).not.toContain('"');
    expect(await textOf(found)).toBe('hello');
    const { body: _, ...head } = found;
    expect(await store.head('a/b.txt')).toEqual(head);
    expect(Math.abs(found.modifiedAt.getTime() - Date.now())).toBeLessThan(3_600_000);
  });

  test('an object is missing before it is stored and after it is removed', async () => {
    const { store } = await prepare();
    expect(await store.get('none')).toBeUndefined();
    expect(await store.head('none')).toBeUndefined();
    await store.remove(['none']);
    await store.put('some', sendable(''));
    expect(await textOf(await store.get('some'))).toBe('');
    await store.remove(['some', 'none']);
    expect(await store.head('some')).toBeUndefined();
  });

  test('an object that exists already is not sent again', async () => {
    const { store } = await prepare();
    const { etag } = (await store.put('k', sendable('one'))) as { etag: string };
    expect(await store.get('k', { unlessEtag: etag })).toBe('unchanged');
    await store.put('k', sendable('two'));
    expect(await textOf(await store.get('k', { unlessEtag: etag }))).toBe('two');
  });

  test('a part of an object comes with the size of the whole', async () => {
    const { store } = await prepare();
    await store.put('k', sendable('0123456789'));
    const part = (await store.get('k', { range: { start: 2, end: 4 } })) as StoredObject;
    expect([part.size, await textOf(part)]).toEqual([10, '234']);
    expect(await textOf(await store.get('k', { range: { start: 7 } }))).toBe('789');
    expect(await textOf(await store.get('k', { range: { start: 8, end: 100 } }))).toBe('89');
    await expect(store.get('k', { range: { start: 10 } })).rejects.toMatchObject({ code: 'E_INVALID_INPUT' });
  });

  test('a large object is sent in parts and returned whole', async () => {
    const { store } = await prepare();
    const piece = (index: number) => Buffer.alloc(1_000_003, index);
    const hasher = createHash('sha256');
    for (let index = 0; index < 20; index += 1) hasher.update(piece(index));
    const shared = Buffer.alloc(1_000_003);
    async function* open() {
      // One buffer for all chunks, as code that reads files does it.
      for (let index = 0; index < 20; index += 1) yield shared.fill(index);
    }
    const put = await store.put('big', { size: 20 * 1_000_003, open }, { metadata: { 'croft-mode': '600' } });
    const found = (await store.get('big')) as StoredObject;
    expect(put).toEqual({ etag: found.etag });
    expect(found).toMatchObject({ size: 20 * 1_000_003, metadata: { 'croft-mode': '600' } });
    const back = createHash('sha256');
    for await (const chunk of found.body) back.update(chunk);
    expect(back.digest('hex')).toBe(hasher.digest('hex'));
  });

  test.each([5, 9 * 1024 * 1024])(
    'a body of %d bytes that is shorter or longer than announced stores nothing',
    async (size) => {
      const { store } = await prepare();
      for (const wrong of [size - 1, size + 1]) {
        async function* open() {
          yield Buffer.alloc(wrong);
        }
        await expect(store.put('k', { size, open })).rejects.toMatchObject({ code: 'E_STALE' });
      }
      expect(await keysIn(store)).toEqual([]);
    },
  );

  test('an error of the body is the error of the put', async () => {
    const { store } = await prepare();
    async function* open() {
      yield Buffer.alloc(9 * 1024 * 1024);
      throw new Error('the disk is gone');
    }
    await expect(store.put('k', { size: 20 * 1024 * 1024, open })).rejects.toThrow('the disk is gone');
    expect(await store.head('k')).toBeUndefined();
  });

  test('an aborted request ends with the reason', async () => {
    const { store } = await prepare();
    await store.put('k', sendable('x'));
    const reason = new Error('not wanted any more');
    const signal = AbortSignal.abort(reason);
    await expect(store.get('k', { signal })).rejects.toBe(reason);
    await expect(store.put('k', sendable('y'), { signal })).rejects.toBe(reason);
    await expect(store.remove(['k'], signal)).rejects.toBe(reason);
    expect(await textOf(await store.get('k'))).toBe('x');
  });

  test('invalid keys are refused', async () => {
    const { store } = await prepare();
    await expect(store.put('\udc80', sendable(''))).rejects.toMatchObject({ code: 'E_INVALID_PATH' });
    await expect(store.get('x'.repeat(1025))).rejects.toMatchObject({ code: 'E_NAME_TOO_LONG' });
  });
}

function describeConditions(prepare: Prepare): void {
  test('supports conditional writes, and its probe says so', async () => {
    const { store } = await prepare();
    expect(await store.probe()).toEqual({ isConditional: true });
    expect(await keysIn(store)).toEqual([]);
  });

  test.each([10, 9 * 1024 * 1024])('stores %d bytes only over the expected version', async (size) => {
    const { store } = await prepare();
    const body = (mark: string) => sendable(Buffer.alloc(size, mark));
    const first = (await store.put('k', body('a'), { expect: 'absent' })) as { etag: string };
    expect(await store.put('k', body('b'), { expect: 'absent' })).toBe('refused');
    const second = (await store.put('k', body('c'), { expect: first })) as { etag: string };
    expect(await store.put('k', body('d'), { expect: first })).toBe('refused');
    expect(await store.put('gone', body('e'), { expect: first })).toBe('refused');
    expect(await store.head('k')).toMatchObject({ etag: second.etag, metadata: {} });
    expect(await keysIn(store)).toEqual(['k']);
  });

  test('one of many concurrent conditional writes wins, for new and existing objects', async () => {
    const fixture = await prepare();
    const stores = Array.from({ length: 4 }, () => fixture.reopen());
    for (const store of stores) onTestFinished(() => store.close());
    const race = async (expected: 'absent' | { etag: string }) => {
      const puts = Array.from({ length: 20 }, (_, index) => {
        return stores[index % 4]!.put('k', sendable(`${index}`), { expect: expected });
      });
      return (await Promise.all(puts)).flatMap((put, index) => (put === 'refused' ? [] : [{ index, ...put }]));
    };
    const [winner, ...others] = await race('absent');
    expect(others).toEqual([]);
    expect(await textOf(await fixture.store.get('k'))).toBe(`${winner!.index}`);
    // Writing the same bytes again leaves the same ETag, which the next writer matches.
    const changed = (await race({ etag: winner!.etag })).filter(({ etag }) => etag !== winner!.etag);
    expect(changed.map(({ index }) => `${index}`)).toEqual([await textOf(await fixture.store.get('k'))]);
  });
}

function describeMany(prepare: Prepare): void {
  test('any key can be stored and is listed exactly', async () => {
    const { store, reopen } = await prepare();
    for (const key of strange) await store.put(key, sendable(key));
    expect((await keysIn(reopen())).toSorted()).toEqual(strange.toSorted());
    for (const key of strange) expect(await textOf(await store.get(key))).toBe(key);
    for (const key of strange) await store.copy(key, `copies/${key}`);
    expect((await keysIn(store, 'copies/')).toSorted()).toEqual(strange.map((key) => `copies/${key}`).toSorted());
    await store.remove([...strange, ...strange.map((key) => `copies/${key}`)]);
    expect(await keysIn(store)).toEqual([]);
  });

  test('lists more than a page, in order, from a given key, and removes them together', async () => {
    const { store } = await prepare();
    const keys = Array.from({ length: 2100 }, (_, index) => `k/${String(index).padStart(5, '0')}`);
    const left = [...keys, 'other'];
    const work = async () => {
      for (let key = left.pop(); key !== undefined; key = left.pop()) await store.put(key, sendable(key));
    };
    await Promise.all(Array.from({ length: 32 }, work));
    expect(await keysIn(store, 'k/')).toEqual(keys);
    const rest = (await Array.fromAsync(store.list('k/', { after: keys[1999]! }))).flat();
    expect(rest.map(({ key }) => key)).toEqual(keys.slice(2000));
    expect(rest[0]).toMatchObject({ size: 7, etag: (await store.head(keys[2000]!))!.etag });
    await store.remove(keys);
    expect(await keysIn(store)).toEqual(['other']);
  });

  test('a copy has the content and the metadata, and a copy of a missing object fails', async () => {
    const { store } = await prepare();
    await store.put('a', sendable('text'), { metadata: { 'croft-mode': '755' } });
    const { etag } = await store.copy('a', 'b');
    const found = (await store.get('b')) as StoredObject;
    expect(found).toMatchObject({ etag, metadata: { 'croft-mode': '755' } });
    expect(await textOf(found)).toBe('text');
    await expect(store.copy('none', 'c')).rejects.toMatchObject({ code: 'E_STORAGE_FAILED' });
  });

  test('never sees objects outside its prefix', async () => {
    const { store, beside } = await prepare();
    const other = beside();
    onTestFinished(() => other.close());
    await other.put('theirs', sendable('x'));
    await store.put('ours', sendable('y'));
    expect(await keysIn(store)).toEqual(['ours']);
    expect(await store.get('theirs')).toBeUndefined();
    await store.remove(['theirs', '../theirs', 'ours']);
    expect(await keysIn(other)).toEqual(['theirs']);
  });
}
