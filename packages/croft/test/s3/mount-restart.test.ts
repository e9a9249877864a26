import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { S3Mount } from '../../src/storages/s3/mount/s3-mount.ts';
import { openMountManifest } from '../../src/storages/s3/mount/working-copy/manifest.ts';
import {
  asOtherTool,
  type BucketLocation,
  makeData,
  newBucketLocation,
  openMount,
} from '../support/s3/mount-fixture.ts';
import { startS3 } from '../support/s3/s3-server.ts';

const server = await startS3();
const bucket = (await server?.bucket('restart')) ?? '';
const signal = new AbortController().signal;

describe.skipIf(!server)('after a crash of the machine', () => {
  let location: BucketLocation;
  let data: ReturnType<typeof makeData>;
  let tool: ReturnType<typeof asOtherTool>;
  let mount: S3Mount;
  const at = (path: string) => join(mount.directory, path);
  beforeEach(async () => {
    location = newBucketLocation(server!, bucket);
    data = makeData();
    tool = asOtherTool(location);
    mount = await openMount({ data: data.path, bucketLocation: location });
    for (const name of ['torn', 'missing', 'whole']) writeFileSync(at(name), `good ${name}`);
    await mount.commit(signal);
  });
  afterEach(async () => {
    await mount.close();
    tool.close();
    data[Symbol.dispose]();
  });

  /** Simulates another boot of the machine. */
  async function reopen(): Promise<void> {
    await mount.close();
    const manifest = openMountManifest(join(data.path, 'mounts', location.namespace, 'manifest.db'));
    manifest.setState({ bootId: 'the one before' });
    manifest.close();
    mount = await openMount({ data: data.path, bucketLocation: location });
  }

  test('a damaged manifest is reported as such, without the path of the data directory', async () => {
    await mount.close();
    const path = join(data.path, 'mounts', location.namespace, 'manifest.db');
    writeFileSync(path, 'x'.repeat(8192));
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
    const refused = await openMount({ data: data.path, bucketLocation: location }).catch((thrown) => thrown);
    expect(refused).toMatchObject({ code: 'E_STORAGE_FAILED' });
    expect(refused.message).toContain('files cannot be opened: manifest.db: ');
    expect(refused.message).not.toContain(data.path);
    rmSync(path);
    mount = await openMount({ data: data.path, bucketLocation: location });
  });

  test('files torn or lost by a power cut never replace those in the bucket', async () => {
    writeFileSync(at('torn'), Buffer.alloc(9));
    writeFileSync(at('new'), 'not committed');
    rmSync(at('missing'));
    await reopen();
    expect(readFileSync(at('torn'), 'utf8')).toBe('good torn');
    expect(readFileSync(at('missing'), 'utf8')).toBe('good missing');
    expect(await tool.all()).toMatchObject({ torn: 'good torn', missing: 'good missing', new: 'not committed' });
    // A torn file and a change look the same: the content is stored and reported.
    const beside = readdirSync(at('')).find((name) => name.startsWith('torn.conflict-'));
    expect(readFileSync(at(beside ?? '')).equals(Buffer.alloc(9))).toBe(true);
    await expect(mount.commit(signal)).rejects.toMatchObject({ code: 'E_CONFLICT' });
  });

  test('a lost history costs a comparison, and no file', async () => {
    await mount.history.collectGarbage([]);
    writeFileSync(at('torn'), 'changed');
    rmSync(at('missing'));
    expect((await mount.commit(signal)).committed.toSorted()).toEqual(['missing', 'torn']);
    await mount.close();
    mount = await openMount({ data: data.path, bucketLocation: location });
    await mount.history.collectGarbage([]);
    await tool.write('from-outside', 'x');
    await mount.close();
    mount = await openMount({ data: data.path, bucketLocation: location });
    expect(existsSync(at('from-outside'))).toBe(true);
    expect((await mount.commit(signal)).committed).toEqual([]);
    expect(await tool.all()).toEqual({ torn: 'changed', whole: 'good whole', 'from-outside': 'x' });
  });

  test('a lost working copy is downloaded again', async () => {
    await mount.close();
    rmSync(mount.directory, { recursive: true });
    mount = await openMount({ data: data.path, bucketLocation: location });
    expect(readdirSync(at('')).toSorted()).toEqual(['missing', 'torn', 'whole']);
    expect(Object.keys(await tool.all()).toSorted()).toEqual(['missing', 'torn', 'whole']);
  });
});
