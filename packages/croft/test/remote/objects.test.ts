import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { AppError } from '@croft/protocol';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { serveObjects } from '../../src/app/fleet/serve-objects.ts';
import { createServedBuckets } from '../../src/app/fleet/served-buckets.ts';
import type { WorkspaceRecord } from '../../src/app/workspaces/opened-workspaces.ts';
import type { ObjectStore, StoredObject } from '../../src/core/storage/object-store.ts';
import { createServerBucket } from '../../src/providers/index.ts';
import { namespaceOf, restrictToWorkspace } from '../../src/storages/index.ts';
import { createObjectStore } from '../../src/storages/s3/client/object-store.ts';
import { describeObjectStore, keysIn, sendable, textOf } from '../contracts/object-store.ts';
import { connectPeers } from '../link/connect-peers.ts';
import { startDialling, startLinkServer } from '../link/link-server.ts';
import { startS3 } from '../support/s3/s3-server.ts';

const server = await startS3();
const bucket = (await server?.bucket('link')) ?? '';

/** Both ends of a link over loopback: a server with these buckets, and a runner that asks for objects. */
async function connectTo(stores: Readonly<Record<string, ObjectStore>>) {
  const { url, links } = await startLinkServer();
  const runner = Promise.withResolvers<Parameters<typeof createServerBucket>[0]>();
  startDialling(url, { onLink: runner.resolve });
  await vi.waitFor(() => expect(links).toHaveLength(1));
  links[0]!.link.peer.serve(serveObjects(async (id) => stores[id]!));
  const peer = await runner.promise;
  return (id: string) => createServerBucket(peer, id);
}

describe.skipIf(!server)('the bucket of the server, used over a link', () => {
  const settings = { ...server!, bucket, credentials: server!, allowPrivate: true };

  describeObjectStore('over a link', async () => {
    const prefix = `t-${randomBytes(6).toString('hex')}`;
    const stores = {
      own: createObjectStore({ ...settings, prefix }),
      beside: createObjectStore({ ...settings, prefix: `${prefix}-beside` }),
    };
    onTestFinished(() => Object.values(stores).forEach((store) => void store.close()));
    const open = await connectTo(stores);
    return { store: open('own'), reopen: () => open('own'), beside: () => open('beside') };
  });

  test('a runner reaches only its own workspace, whatever key it names', async () => {
    const all = createObjectStore({ ...settings, prefix: `t-${randomBytes(6).toString('hex')}` });
    onTestFinished(() => all.close());
    const [mine, theirs] = ['a', 'b'].map((letter) => `fs-${letter.repeat(40)}`);
    const secret = [`${theirs}/secret`, `.croft/${theirs}/head`, 'secret'];
    for (const key of secret) await all.put(key, sendable('theirs'));
    await all.put(`${mine}/own`, sendable('mine'));
    const [peer, runner] = connectPeers();
    onTestFinished(() => peer.close('the test is over'));
    peer.serve(serveObjects(async () => restrictToWorkspace(all, mine!)));
    // The raw answer, before the runner's side interprets it.
    const ask = (method: string, params: object) => runner.call(method, { objects: 'any', ...params }, {}).answer;
    const forbidden = { code: 'E_FORBIDDEN' };
    const keys = [
      ...secret,
      `${mine}/../${theirs}/secret`,
      `${mine}x/secret`,
      `.croft/${mine}`,
      `./${theirs}/secret`,
      mine!,
    ];
    for (const key of keys) {
      await expect(ask('objects.get', { key })).rejects.toMatchObject(forbidden);
      await expect(ask('objects.head', { key })).rejects.toMatchObject(forbidden);
      await expect(ask('objects.put', { key, size: 0 })).rejects.toMatchObject(forbidden);
      await expect(ask('objects.remove', { keys: [`${mine}/own`, key] })).rejects.toMatchObject(forbidden);
      await expect(ask('objects.copy', { from: key, to: `${mine}/taken` })).rejects.toMatchObject(forbidden);
      await expect(ask('objects.copy', { from: `${mine}/own`, to: key })).rejects.toMatchObject(forbidden);
    }
    for (const prefix of ['', 'fs-', `${mine}`, '.croft/', `${theirs}/`, `${mine}/../`])
      await expect(ask('objects.list', { prefix })).rejects.toMatchObject(forbidden);
    expect((await keysIn(all)).toSorted()).toEqual([...secret, `${mine}/own`].toSorted());
    const own = createServerBucket(runner, 'any');
    expect(await keysIn(own, `${mine}/`)).toEqual([`${mine}/own`]);
    expect(await textOf(await own.get(`${mine}/own`))).toBe('mine');
    await expect(own.get(secret[0]!)).rejects.toMatchObject({ code: 'E_STORAGE_FAILED' });
  });
});

/** A bucket that has what the test says, and nothing else that works. */
function standIn(objects: Partial<ObjectStore>): ObjectStore {
  const none = async () => undefined;
  return { get: none, head: none, close() {}, ...objects } as ObjectStore;
}

test('a body that breaks off is an error at the other side, and never a normal end', async () => {
  const [peer, runner] = connectPeers();
  onTestFinished(() => peer.close('the test is over'));
  async function* broken() {
    yield Buffer.alloc(100_000);
    throw new AppError('E_STORAGE_UNAVAILABLE', 'the bucket is gone');
  }
  const head = { key: 'k', etag: 'e', modifiedAt: new Date(0), metadata: {} };
  const get: ObjectStore['get'] = async (key) => ({
    ...{ ...head, size: 200_000 },
    body: Readable.from(key === 'short' ? [Buffer.alloc(100_000)] : broken()),
  });
  peer.serve(serveObjects(async () => standIn({ get })));
  const objects = createServerBucket(runner, 'any');
  await expect(objects.get('broken').then(textOf)).rejects.toMatchObject({ code: 'E_STORAGE_UNAVAILABLE' });
  await expect(objects.get('short').then(textOf)).rejects.toMatchObject({ code: 'E_STORAGE_FAILED' });
});

test('the rest of a body that nobody reads is not downloaded', async () => {
  const [peer, runner] = connectPeers();
  onTestFinished(() => peer.close('the test is over'));
  const body = Readable.from(Array.from({ length: 100 }, () => Buffer.alloc(100_000)));
  const head = { key: 'k', etag: 'e', size: 10_000_000, modifiedAt: new Date(0), metadata: {} };
  peer.serve(serveObjects(async () => standIn({ get: async () => ({ ...head, body }) })));
  const found = (await createServerBucket(runner, 'any').get('k')) as StoredObject;
  expect(body.destroyed).toBe(false);
  found.body.destroy();
  await vi.waitFor(() => expect([body.destroyed, body.readableEnded]).toEqual([true, false]));
});

test('without a link the bucket counts as unreachable', async () => {
  const [peer, runner] = connectPeers();
  const objects = createServerBucket(runner, 'any');
  const waiting = objects.head('k');
  peer.close('the server is gone');
  for (const failing of [waiting, objects.put('k', sendable('x')), Array.fromAsync(objects.list('p/'))])
    await expect(failing).rejects.toMatchObject({ code: 'E_STORAGE_UNAVAILABLE' });
});

test('a bucket is served on one link while its workspace is open, and opened again after its secrets change', async () => {
  const [opened, closed] = [vi.fn(), vi.fn()];
  const openObjects = async () => {
    opened();
    return standIn({
      head: async (key) => ({ key, etag: 'e', size: 1, modifiedAt: new Date(0), metadata: {} }),
      close: closed,
    });
  };
  const buckets = createServedBuckets({ openObjects });
  const record = { accountId: 'acc', id: 'ws', config: { storage: { provider: 's3' } } } as unknown as WorkspaceRecord;
  const [one, other] = [1, 2].map(() => {
    const [peer, runner] = connectPeers();
    onTestFinished(() => peer.close('the test is over'));
    const link = {
      id: 'any',
      capabilities: [],
      peer,
      close() {},
      state: () => 'online' as const,
      onState() {},
      lastSeenAt: () => new Date(),
    };
    return { wish: buckets.serve(link, record)!, again: () => buckets.serve(link, record)!, runner };
  });
  const key = `${namespaceOf('acc', 'ws')}/f`;
  const own = createServerBucket(one!.runner, one!.wish.objects);
  expect(await own.head(key)).toMatchObject({ key });
  expect(one!.again()).toEqual(one!.wish);
  await expect(createServerBucket(other!.runner, one!.wish.objects).head(key)).rejects.toMatchObject({
    code: 'E_NOT_FOUND',
  });
  buckets.reopen('another');
  buckets.reopen('acc');
  expect(await own.head(key)).toMatchObject({ key });
  await vi.waitFor(() => expect([opened.mock.calls.length, closed.mock.calls.length]).toEqual([2, 1]));
  buckets.forget(namespaceOf('acc', 'ws'));
  await expect(own.head(key)).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
});
