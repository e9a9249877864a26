import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { S3Mount } from '../../src/storages/s3/mount/s3-mount.ts';
import { type FaultyProxy, type SeenRequest, startFaultyProxy } from '../support/faults/faulty-proxy.ts';
import {
  asOtherTool,
  type BucketLocation,
  makeData,
  newBucketLocation,
  openMount,
} from '../support/s3/mount-fixture.ts';
import { startS3, startS3Gateway } from '../support/s3/s3-server.ts';

const server = await startS3();
const bucket = (await server?.bucket('faults')) ?? '';
const signal = new AbortController().signal;
const patience = { timeout: 30_000, interval: 100 };

describe.skipIf(!server)('a bucket that fails', () => {
  let proxy: FaultyProxy;
  let location: BucketLocation;
  let data: ReturnType<typeof makeData>;
  let tool: ReturnType<typeof asOtherTool>;
  let opened: S3Mount[];
  beforeEach(async () => {
    proxy = await startFaultyProxy(server!.endpoint);
    const straight = newBucketLocation(server!, bucket);
    tool = asOtherTool(straight);
    location = { ...straight, endpoint: proxy.url };
    data = makeData();
    opened = [];
  });
  afterEach(async () => {
    for (const mount of opened) await mount.close();
    tool.close();
    await proxy[Symbol.asyncDispose]();
    data[Symbol.dispose]();
  });
  async function open(options: Partial<Parameters<typeof openMount>[0]> = {}): Promise<S3Mount> {
    const mount = await openMount({ data: data.path, bucketLocation: location, ...options });
    opened.push(mount);
    return mount;
  }
  const put = (mount: S3Mount, path: string, text: string) => writeFileSync(join(mount.directory, path), text);
  const read = (mount: S3Mount, path: string) => readFileSync(join(mount.directory, path), 'utf8');
  const isWrite = ({ method }: SeenRequest) => method === 'PUT';

  test('down: reads go on, a commit reports it and is repeated as soon as the bucket is back', async () => {
    const mount = await open();
    put(mount, 'a', 'before');
    await mount.commit(signal);
    await proxy.refuse();
    await mount.refresh(signal);
    expect((await mount.files.read('a')).bytes.toString()).toBe('before');
    put(mount, 'a', 'during');
    put(mount, 'b', 'new');
    const refused = await mount.commit(signal).catch((thrown) => thrown);
    expect(refused.code).toBe('E_STORAGE_UNAVAILABLE');
    expect(refused.details.waiting.toSorted()).toEqual(['a', 'b']);
    expect(refused.message).toMatch(/on the local disk/);
    expect(mount.unavailableSince).toBeInstanceOf(Date);
    expect(await tool.all()).toEqual({ a: 'before' });
    await proxy.accept();
    await vi.waitFor(async () => expect(await tool.all()).toEqual({ a: 'during', b: 'new' }), patience);
    await vi.waitFor(() => expect(mount.unavailableSince).toBeUndefined(), patience);
    expect((await mount.commit(signal)).committed).toEqual([]);
  });

  test('with the setting queue, a commit reports what waits, which survives a restart of the server', async () => {
    const mount = await open({ onOutage: 'queue' });
    put(mount, 'old', 'x');
    await mount.commit(signal);
    await proxy.refuse();
    put(mount, 'a', 'queued');
    rmSync(join(mount.directory, 'old'));
    expect((await mount.commit(signal)).queued.toSorted()).toEqual(['a', 'old']);
    opened = [];
    await mount.close();
    const again = await open({ onOutage: 'queue' });
    expect(read(again, 'a')).toBe('queued');
    expect(again.unavailableSince).toBeInstanceOf(Date);
    await proxy.accept();
    await vi.waitFor(async () => expect(await tool.all()).toEqual({ a: 'queued' }), patience);
  });

  test('down at the first opening the workspace cannot be used, and the error says so', async () => {
    await proxy.refuse();
    await expect(open()).rejects.toMatchObject({ code: 'E_STORAGE_UNAVAILABLE' });
    await proxy.accept();
    await tool.write('f', 'x');
    expect(read(await open(), 'f')).toBe('x');
  });

  test('a path changed on both sides during an outage is kept twice, and the next call is told', async () => {
    const mount = await open();
    put(mount, 'f', 'start');
    await mount.commit(signal);
    await proxy.refuse();
    put(mount, 'f', 'ours');
    await mount.commit(signal).catch(() => {});
    await tool.write('f', 'theirs');
    await proxy.accept();
    await vi.waitFor(
      async () => expect(Object.values(await tool.all()).toSorted()).toEqual(['ours', 'theirs']),
      patience,
    );
    await vi.waitFor(() => expect(mount.unavailableSince).toBeUndefined(), patience);
    expect(await tool.read('f')).toBe('theirs');
    await expect(mount.commit(signal)).rejects.toThrow(/somebody else/);
    expect((await mount.commit(signal)).committed).toEqual([]);
  });

  test('lost answers: our own write is not taken for one of another server', async () => {
    const mount = await open();
    for (const name of ['a', 'b', 'c']) put(mount, name, name);
    const seen = new Set<string>();
    const isFirst = ({ path }: SeenRequest) => !seen.has(path) && seen.add(path) !== undefined;
    using _ = proxy.when((one) => isWrite(one) && isFirst(one), 'lose-answer');
    const report = await mount.commit(signal);
    expect(report.committed.toSorted()).toEqual(['a', 'b', 'c']);
    seen.clear();
    rmSync(join(mount.directory, 'a'));
    put(mount, 'b', 'changed');
    expect((await mount.commit(signal)).committed.toSorted()).toEqual(['a', 'b']);
    expect(await tool.all()).toEqual({ b: 'changed', c: 'c' });
  });

  test('requests that fail, break off or come back half: files that arrive are whole', {
    timeout: 120_000,
  }, async () => {
    const second = await open({ data: join(data.path, 'second') });
    const mount = await open();
    const text = 'x'.repeat(200_000);
    let count = 0;
    const every = (nth: number) => ++count % nth === 0;
    using _ = proxy.when(() => every(11), { status: 503, code: 'SlowDown' });
    using __ = proxy.when(({ method }) => method === 'GET' && every(5), { cutResponseAfter: 1000 });
    using ___ = proxy.when((seen) => isWrite(seen) && every(4), 'lose-answer');
    const cutting = setInterval(() => proxy.cut(), 170);
    using ____ = { [Symbol.dispose]: () => clearInterval(cutting) };
    for (let round = 0; round < 5; round++) {
      for (const name of ['a', 'b', 'c', 'd']) put(mount, name, `${round}${name}${text}`);
      await vi.waitFor(() => mount.commit(signal), patience);
      for (const [name, content] of Object.entries(await tool.all())) expect(content).toBe(`${round}${name}${text}`);
      await vi.waitFor(async () => {
        await second.refresh(signal);
        expect(read(second, 'd')).toBe(`${round}d${text}`);
      }, patience);
      for (const name of ['a', 'b', 'c']) expect(read(second, name)).toBe(`${round}${name}${text}`);
    }
  });

  test('a call cancelled while the bucket hangs is finished by the next', async () => {
    const mount = await open();
    put(mount, 'a', 'x');
    const { promise: until, resolve: goOn } = Promise.withResolvers<void>();
    const hanging = proxy.when(isWrite, { until });
    const call = new AbortController();
    const committing = mount.commit(call.signal);
    await vi.waitFor(() => expect(proxy.seen.some(isWrite)).toBe(true), patience);
    call.abort();
    await expect(committing).rejects.toThrow();
    hanging[Symbol.dispose]();
    goOn();
    await mount.commit(signal);
    expect(await tool.all()).toEqual({ a: 'x' });
  });

  test('a placeholder while the bucket is down: zeros are never read as its content', async () => {
    const large = Buffer.alloc(9 << 20, 'l');
    const first = await open();
    writeFileSync(join(first.directory, 'large'), large);
    await first.commit(signal);
    const mount = await open({ data: join(data.path, 'second') });
    await proxy.refuse();
    await expect(mount.files.read('large', { maxBytes: 1 << 30 })).rejects.toMatchObject({
      code: 'E_STORAGE_UNAVAILABLE',
    });
    put(mount, 'small', 's');
    await expect(mount.commit(signal)).rejects.toMatchObject({ code: 'E_STORAGE_UNAVAILABLE' });
    await proxy.accept();
    await vi.waitFor(async () => expect(await tool.read('small')).toBe('s'), patience);
    expect((await tool.read('large')) === large.toString()).toBe(true);
    expect(readFileSync(join(mount.directory, 'large')).equals(large)).toBe(true);
  });
});

const gateway = await startS3Gateway();
describe.skipIf(!gateway)('a gateway that is killed', () => {
  test('in the middle of commits: every acknowledged change is there', { timeout: 120_000 }, async () => {
    using data = makeData();
    const location = newBucketLocation(gateway!, await gateway!.bucket('killed'));
    const mount = await openMount({ data: data.path, bucketLocation: location });
    const acknowledged = new Map<string, string>();
    const kills = Promise.withResolvers<void>();
    for (let round = 0; round < 12; round++) {
      const names = Array.from({ length: 10 }, (_, index) => `f${index}`);
      for (const name of names) writeFileSync(join(mount.directory, name), `${name} in ${round}`);
      const killing = round % 4 === 2 ? gateway!.kill().then(kills.resolve) : undefined;
      await mount.commit(signal).then(
        () => {
          for (const name of names) acknowledged.set(name, `${name} in ${round}`);
        },
        (thrown) => expect(thrown.code).toBe('E_STORAGE_UNAVAILABLE'),
      );
      await killing;
      if (killing) await gateway!.restart();
    }
    await vi.waitFor(() => mount.commit(signal), patience);
    const tool = asOtherTool(location);
    const there = await tool.all();
    for (const [name, text] of acknowledged)
      expect(Number(there[name]?.split(' in ')[1])).toBeGreaterThanOrEqual(Number(text.split(' in ')[1]));
    expect(Object.values(there)).toEqual(Array.from({ length: 10 }, (_, index) => `f${index} in 11`));
    expect(existsSync(join(mount.directory, 'f0'))).toBe(true);
    tool.close();
    await mount.close();
    await gateway!.stop();
  });
});
