import { randomBytes } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createObjectStore } from '../../src/storages/s3/client/object-store.ts';
import { createS3HistoryStore } from '../../src/storages/s3/history/s3-history-store.ts';
import { contentKey } from '../../src/storages/s3/layout/history-keys.ts';
import { contentOf, describeHistoryStore, treeOf } from '../contracts/history-store.ts';
import { sendable } from '../contracts/object-store.ts';
import { startS3 } from '../support/s3/s3-server.ts';

const server = await startS3();
const bucket = (await server?.bucket('history')) ?? '';

function openFixture() {
  const namespace = `fs-${randomBytes(6).toString('hex')}`;
  const settings = { ...server!, bucket, credentials: server!, allowPrivate: true, prefix: 'somewhere' };
  const openObjects = () => {
    const objects = createObjectStore(settings);
    onTestFinished(() => objects.close());
    return objects;
  };
  const open = (graceMs: number) => createS3HistoryStore({ objects: openObjects(), namespace, graceMs });
  return { namespace, open, openObjects };
}

describe.skipIf(!server)('in a bucket', () => {
  describeHistoryStore('s3', async () => {
    const { open } = openFixture();
    return { store: open(0), reopen: async () => open(0) };
  });

  test('unreferenced content stays for a while, and longer if it is stored again', async () => {
    const { open } = openFixture();
    const [patient, eager] = [open(3_600_000), open(0)];
    const [dead, revived] = [contentOf('dead'), contentOf('revived')];
    await patient.put([dead, revived]);
    expect(await patient.collectGarbage([])).toBe(0);
    // It is there, but nobody may count on it any more.
    expect(await patient.findMissing([dead.hash, revived.hash])).toEqual(new Set([dead.hash, revived.hash]));
    expect(await patient.read(dead.hash)).toEqual(dead.bytes);
    await patient.put([revived]);
    expect(await patient.findMissing([dead.hash, revived.hash])).toEqual(new Set([dead.hash]));
    const tree = treeOf({ 'a.txt': 'revived' });
    await patient.put(tree);
    expect(await eager.collectGarbage([tree.at(-1)!.hash])).toBe(4);
    expect(await patient.findMissing([dead.hash, revived.hash])).toEqual(new Set([dead.hash]));
    expect(await patient.read(revived.hash)).toEqual(revived.bytes);
  });

  test('two servers that collect at once remove no referenced content', async () => {
    const { open } = openFixture();
    const [one, other] = [open(0), open(0)];
    const tree = treeOf(Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`f${index}`, `live ${index}`])));
    await one.put([...tree, ...Array.from({ length: 40 }, (_, index) => contentOf(`dead ${index}`))]);
    const root = tree.at(-1)!.hash;
    await Promise.all([one.collectGarbage([root]), other.collectGarbage([root]), one.collectGarbage([root])]);
    await one.collectGarbage([root]);
    expect(await other.findMissing(tree.map(({ hash }) => hash))).toEqual(new Set());
    expect((await other.findMissing([contentOf('dead 1').hash])).size).toBe(1);
  });

  test('damaged content is refused, and an unreadable tree deletes nothing', async () => {
    const { open, openObjects, namespace } = openFixture();
    const store = open(0);
    const tree = treeOf({ 'a.txt': 'text' });
    await store.put(tree);
    await openObjects().put(contentKey(namespace, tree[0]!.hash), sendable('rotten'));
    await expect(store.read(tree[0]!.hash)).rejects.toMatchObject({ code: 'E_STORAGE_FAILED' });
    await openObjects().put(contentKey(namespace, tree[1]!.hash), sendable('rotten'));
    await expect(store.collectGarbage([tree[1]!.hash])).rejects.toMatchObject({ code: 'E_STORAGE_FAILED' });
    expect(await open(0).findMissing(tree.map(({ hash }) => hash))).toEqual(new Set());
  });

  test('an object that is no note of ours is ignored', async () => {
    const { open, openObjects, namespace } = openFixture();
    await openObjects().put(`.croft/${namespace}/notes/snapshot/x`, sendable('[1]'));
    await expect(open(0).note('snapshot', 'x')).rejects.toMatchObject({ code: 'E_STORAGE_FAILED' });
  });
});
