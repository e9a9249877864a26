import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { StoredObject } from '../../src/core/storage/object-store.ts';
import { createObjectStore, type ObjectStoreOptions } from '../../src/storages/s3/client/object-store.ts';
import { keysIn, sendable, textOf } from '../contracts/object-store.ts';
import { type SeenRequest, startFaultyProxy } from '../support/faults/faulty-proxy.ts';
import { startS3, startS3Gateway } from '../support/s3/s3-server.ts';

const server = await startS3();
const bucket = (await server?.bucket('faults')) ?? '';
const quickly = { attempts: 5, firstPauseMs: 5 };
const megabyte = 1024 * 1024;

async function prepare(options: Partial<ObjectStoreOptions> = {}) {
  const proxy = await startFaultyProxy(server!.endpoint);
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  const prefix = `t-${randomBytes(6).toString('hex')}`;
  const settings = { ...server!, bucket, prefix, credentials: server!, allowPrivate: true, retries: quickly };
  const open = (endpoint: string) => {
    const store = createObjectStore({ ...settings, endpoint, ...options });
    onTestFinished(() => store.close());
    return store;
  };
  return { proxy, store: open(proxy.url), straight: open(server!.endpoint) };
}

const isPut = ({ method }: SeenRequest) => method === 'PUT';
const isGet = ({ method }: SeenRequest) => method === 'GET';

describe.skipIf(!server)('an object store over a bad network', () => {
  test.each([
    ['is answered 500', { status: 500 }],
    ['is answered 503', { status: 503, code: 'SlowDown' }],
    ['is cut while it is sent', { cutRequestAfter: 2 }],
    ['is done, and nobody is told', 'lose-answer'],
  ] as const)('a put that %s is repeated, and stored once', async (_, fault) => {
    const { proxy, store, straight } = await prepare();
    await store.probe();
    for (const [key, expected] of [
      ['plain', undefined],
      ['new', 'absent'],
    ] as const) {
      proxy.when(isPut, fault, 2);
      const put = await store.put(key, sendable('content'), { expect: expected });
      expect(put).toEqual({ etag: (await straight.head(key))!.etag });
      expect(await textOf(await straight.get(key))).toBe('content');
    }
    const before = (await straight.head('new'))!;
    proxy.when(isPut, fault, 2);
    const replaced = await store.put('new', sendable('changed'), { expect: { etag: before.etag } });
    expect(replaced).toEqual({ etag: (await straight.head('new'))!.etag });
    expect(await store.put('new', sendable('again'), { expect: { etag: before.etag } })).toBe('refused');
    expect(await textOf(await straight.get('new'))).toBe('changed');
  });

  test('a put whose answer was lost is recognised as our own, and a put of another server is not', async () => {
    const { proxy, store, straight } = await prepare();
    await straight.put('k', sendable('same bytes'), { expect: 'absent' });
    proxy.when(isPut, { status: 500 }, 1);
    expect(await store.put('k', sendable('same bytes'), { expect: 'absent' })).toBe('refused');
  });

  test.each(['is cut early', 'is cut late'])('a large body that %s resumes where it was', async (kind) => {
    const { proxy, store, straight } = await prepare();
    const content = randomBytes(3 * megabyte);
    await straight.put('k', sendable(content));
    const after = kind === 'is cut early' ? 10 : 2 * megabyte;
    proxy.when(isGet, { cutResponseAfter: after }, 2);
    const found = (await store.get('k')) as StoredObject;
    expect((await buffer(found.body)).equals(content)).toBe(true);
    proxy.when(isGet, { cutResponseAfter: after }, 1);
    const part = (await store.get('k', { range: { start: 5, end: 3 * megabyte - 2 } })) as StoredObject;
    expect((await buffer(part.body)).equals(content.subarray(5, -1))).toBe(true);
  });

  test('a body that was cut does not resume with another content', async () => {
    const { proxy, store, straight } = await prepare();
    await straight.put('k', sendable(Buffer.alloc(2 * megabyte, 'a')));
    const { promise, resolve } = Promise.withResolvers<void>();
    proxy.when(isGet, { cutResponseAfter: 1000 }, 1);
    proxy.when(({ headers }) => headers.range !== undefined, { until: promise }, 1);
    const reading = buffer(((await store.get('k')) as StoredObject).body);
    reading.catch(() => {});
    await straight.put('k', sendable(Buffer.alloc(2 * megabyte, 'b')));
    resolve();
    await expect(reading).rejects.toMatchObject({ code: 'E_STORAGE_UNAVAILABLE' });
  });

  test('a small body that is cut is requested again', async () => {
    const { proxy, store, straight } = await prepare();
    await straight.put('k', sendable('x'.repeat(1000)));
    proxy.when(isGet, { cutResponseAfter: 10 }, 3);
    expect(await textOf(await store.get('k'))).toBe('x'.repeat(1000));
  });

  test('failed parts are sent again, and an answer lost at the end is found out', async () => {
    const { proxy, store, straight } = await prepare();
    const content = randomBytes(20 * megabyte);
    const isPart = ({ path }: SeenRequest) => path.includes('partNumber=2');
    const isEnd = ({ method, path }: SeenRequest) => method === 'POST' && path.includes('uploadId=');
    proxy.when(isPart, { cutRequestAfter: megabyte }, 1);
    proxy.when(isPart, { status: 500 }, 1);
    proxy.when(isEnd, 'lose-answer', 1);
    const put = await store.put('big', sendable(content), { expect: 'absent' });
    expect(put).toEqual({ etag: (await straight.head('big'))!.etag });
    expect((await buffer(((await straight.get('big')) as StoredObject).body)).equals(content)).toBe(true);
  });

  test('an upload that fails for good is aborted', async () => {
    const { proxy, store, straight } = await prepare();
    proxy.when(({ path }) => path.includes('partNumber=3'), { status: 500 });
    const put = store.put('big', sendable(Buffer.alloc(30 * megabyte)));
    await expect(put).rejects.toMatchObject({ code: 'E_STORAGE_UNAVAILABLE' });
    expect(proxy.seen.some(({ method, path }) => method === 'DELETE' && path.includes('uploadId='))).toBe(true);
    expect(await keysIn(straight)).toEqual([]);
  });

  test('lists, copies and removals are repeated', async () => {
    const { proxy, store, straight } = await prepare();
    for (const key of ['a', 'b', 'c', 'd']) await straight.put(key, sendable(key));
    proxy.when(() => true, { status: 503 }, 2);
    expect(await keysIn(store)).toEqual(['a', 'b', 'c', 'd']);
    proxy.when(() => true, 'lose-answer', 2);
    await store.copy('a', 'e');
    expect(await textOf(await straight.get('e'))).toBe('a');
    proxy.when(() => true, 'lose-answer', 2);
    await store.remove(['a', 'b', 'c']);
    proxy.when(() => true, { status: 500 }, 2);
    await store.remove(['d']);
    expect(await keysIn(straight)).toEqual(['e']);
  });

  test('a service without batch deletes gets one delete per key', async () => {
    const { proxy, store, straight } = await prepare();
    for (const key of ['a', 'b', 'c', 'd']) await straight.put(key, sendable(key));
    proxy.when(({ method, path }) => method === 'POST' && /[?&]delete/.test(path), {
      status: 501,
      code: 'NotImplemented',
    });
    await store.remove(['a', 'b', 'c', 'none']);
    expect(await keysIn(straight)).toEqual(['d']);
  });

  test('refused connections, silence and endless errors are an outage, reported without the address', async () => {
    const { proxy, store } = await prepare({ retries: { attempts: 2, firstPauseMs: 1 }, idleMs: 300, connectMs: 300 });
    await store.put('k', sendable('x'));
    const expectOutage = async (attempt: Promise<unknown>) => {
      const thrown = await attempt.then(
        () => 'it went well',
        (reason) => reason,
      );
      expect(thrown).toMatchObject({ code: 'E_STORAGE_UNAVAILABLE' });
      expect(JSON.stringify([thrown, thrown.message])).not.toMatch(/127\.0\.0\.1|croft-test|Signature|\d{4,}/);
    };
    const attempts = () => [
      store.get('k'),
      store.head('k'),
      store.put('k', sendable('y'), { expect: 'absent' }),
      // Removes another key: the request completes when the fault ends, and the other requests need `k`.
      store.remove(['other']),
      keysIn(store),
      store.copy('k', 'l'),
    ];
    const never = Promise.withResolvers<void>();
    for (const fault of [{ status: 503 }, { until: never.promise }] as const) {
      using _ = proxy.when(() => true, fault);
      await Promise.all(attempts().map(expectOutage));
    }
    never.resolve();
    await proxy.refuse();
    await Promise.all(attempts().map(expectOutage));
    await proxy.accept();
    await vi.waitFor(async () => expect(await textOf(await store.get('k'))).toBe('x'), { timeout: 20_000 });
  });

  test('a refusal is not an outage: it is not repeated, and its cause is reported', async () => {
    const { proxy, store } = await prepare();
    const cases = [
      [{ status: 403, code: 'AccessDenied' }, 'E_STORAGE_FAILED', /AccessDenied.*credentials/],
      [{ status: 403, code: 'QuotaExceeded' }, 'E_STORAGE_FULL', /full/],
      [{ status: 403, code: 'RequestTimeTooSkewed' }, 'E_STORAGE_FAILED', /clock/],
      [{ status: 404, code: 'NoSuchBucket' }, 'E_STORAGE_FAILED', /no such bucket/],
      [{ status: 400, code: 'Odd<script>' }, 'E_STORAGE_FAILED', /status 400/],
    ] as const;
    for (const [fault, code, message] of cases) {
      using _ = proxy.when(() => true, fault);
      const before = proxy.seen.length;
      const thrown = await store.put('k', sendable('x')).catch((reason) => reason);
      expect([thrown.code, thrown.message]).toEqual([code, expect.stringMatching(message)]);
      expect(proxy.seen.length).toBe(before + 1);
      await expect(keysIn(store)).rejects.toMatchObject({ code });
    }
  });

  test('a redirect is never followed: neither keys nor files go elsewhere', async () => {
    const [{ proxy, store }, elsewhere] = [await prepare(), await startFaultyProxy(server!.endpoint)];
    onTestFinished(() => elsewhere[Symbol.asyncDispose]());
    proxy.when(() => true, { redirectTo: `${elsewhere.url}/somewhere` });
    const attempts = [store.get('k'), store.put('k', sendable('x')), keysIn(store), store.remove(['a', 'b', 'c'])];
    for (const { reason } of (await Promise.allSettled(attempts)) as PromiseRejectedResult[])
      expect(reason).toMatchObject({ code: 'E_STORAGE_FAILED' });
    expect(elsewhere.seen).toEqual([]);
  });

  test('a slow reader is not taken for an outage', async () => {
    const { store, straight } = await prepare({ idleMs: 200 });
    const content = randomBytes(12 * megabyte);
    await straight.put('k', sendable(content));
    const { body } = (await store.get('k')) as StoredObject;
    const iterator = body[Symbol.asyncIterator]();
    const first = await iterator.next();
    await new Promise((resolve) => setTimeout(resolve, 700));
    const rest = await Array.fromAsync({ [Symbol.asyncIterator]: () => iterator });
    expect(Buffer.concat([first.value, ...rest]).equals(content)).toBe(true);
  });
});

test('a killed server has every acknowledged object when it is back', async ({ skip }) => {
  const gateway = await startS3Gateway();
  if (!gateway) return skip();
  onTestFinished(() => gateway.stop());
  const settings = { ...gateway, bucket, prefix: `k-${randomBytes(6).toString('hex')}`, credentials: gateway };
  const store = createObjectStore({ ...settings, allowPrivate: true, retries: { attempts: 3, firstPauseMs: 10 } });
  onTestFinished(() => store.close());
  const reports = new Map<string, string>();
  let [isOver, failures] = [false, 0];
  const write = async (writer: number) => {
    for (let round = 0; !isOver; round += 1) {
      const [key, text] = [`${writer}/${round}`, `${writer} ${round}`];
      const put = await store.put(key, sendable(text), { expect: 'absent' }).catch(() => undefined);
      if (put === undefined) failures += 1;
      else if (put !== 'refused') reports.set(key, text);
    }
  };
  const writers = [write(0), write(1), write(2), write(3)];
  for (let round = 0; round < 3; round += 1) {
    const [had, failed] = [reports.size, failures];
    await vi.waitFor(() => expect(reports.size).toBeGreaterThan(had + 20), { timeout: 60_000 });
    await gateway.kill();
    await vi.waitFor(() => expect(failures).toBeGreaterThan(failed), { timeout: 60_000 });
    await gateway.restart();
  }
  // Until it is known that the outage is over.
  const had = reports.size;
  await vi.waitFor(() => expect(reports.size).toBeGreaterThan(had), { timeout: 60_000 });
  isOver = true;
  await Promise.all(writers);
  for (const [key, text] of reports) expect(await textOf(await store.get(key))).toBe(text);
  // Nothing that was never acknowledged is half there either.
  for (const key of await keysIn(store)) expect(await textOf(await store.get(key))).toBe(key.replace('/', ' '));
}, 240_000);
