import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  GetObjectCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import type { ObjectStore } from '../../../src/core/storage/object-store.ts';
import { openSqliteStore } from '../../../src/history/store/sqlite-store.ts';
import { openWorkingTree } from '../../../src/history/working-tree.ts';
import { createObjectStore, type ObjectStoreOptions } from '../../../src/storages/s3/client/object-store.ts';
import { openS3Mount, type S3Mount, type S3MountOptions } from '../../../src/storages/s3/mount/s3-mount.ts';
import { createWalkingFollower } from '../../history/walking-follower.ts';

/** The location of a workspace in a bucket, in a form that can be passed to another process. */
export interface BucketLocation {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
  readonly bucket: string;
  readonly prefix: string;
  readonly namespace: string;
}

export function newBucketLocation(
  server: Omit<BucketLocation, 'bucket' | 'prefix' | 'namespace'>,
  bucket: string,
): BucketLocation {
  const { endpoint, accessKeyId, secretAccessKey, region } = server;
  const prefix = `t-${randomBytes(6).toString('hex')}`;
  return {
    endpoint,
    accessKeyId,
    secretAccessKey,
    region,
    bucket,
    prefix,
    namespace: `fs-${randomBytes(20).toString('hex')}`,
  };
}

export function connect(location: BucketLocation, options: Partial<ObjectStoreOptions> = {}): ObjectStore {
  const { accessKeyId, secretAccessKey } = location;
  return createObjectStore({
    ...location,
    credentials: { accessKeyId, secretAccessKey },
    allowPrivate: true,
    ...options,
  });
}

export type MountSettings = Partial<S3MountOptions> & {
  readonly data: string;
  readonly bucketLocation: BucketLocation;
};

/** Opens a mount as the app does, with a store of its own. */
export async function openMount({ data, bucketLocation, ...rest }: MountSettings): Promise<S3Mount> {
  const directory = join(data, 'mounts', bucketLocation.namespace);
  const store = openSqliteStore(join(data, `${bucketLocation.namespace}.db`));
  const objects = rest.objects ?? connect(bucketLocation);
  const follower = createWalkingFollower();
  const mount = await openS3Mount({
    ...{
      namespace: bucketLocation.namespace,
      directory,
      store,
      objects,
      name: 'ws',
      access: 'read-write',
      onOutage: 'refuse',
    },
    openTree: (handle) =>
      openWorkingTree({ directoryFd: handle, directory: join(directory, 'files'), store, follower }),
    ...rest,
  });
  const closeMount = mount.close;
  const close = async () => {
    await closeMount();
    await store[Symbol.asyncDispose]();
    if (!rest.objects) objects.close();
  };
  return Object.assign(mount, { close });
}

export function makeData(): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'croft-test-mount-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** The bucket as another tool sees it, through the official SDK. */
export function asOtherTool({ bucket, prefix, namespace, ...bucketLocation }: BucketLocation) {
  const client = new S3Client({ ...bucketLocation, credentials: bucketLocation, forcePathStyle: true });
  const base = `${prefix}/${namespace}/`;
  return {
    async read(key: string): Promise<string> {
      const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: base + key }));
      return (await Body?.transformToString()) ?? '';
    },
    async metadata(key: string): Promise<Record<string, string>> {
      const { Metadata, Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: base + key }));
      await Body?.transformToByteArray();
      return Metadata ?? {};
    },
    async write(key: string, body: string | Buffer): Promise<void> {
      await client.send(new PutObjectCommand({ Bucket: bucket, Key: base + key, Body: body }));
    },
    async keys(): Promise<string[]> {
      const keys: string[] = [];
      for (let after: string | undefined = ''; after !== undefined; ) {
        const page: ListObjectsV2CommandOutput = await client.send(
          new ListObjectsV2Command({ Bucket: bucket, Prefix: base, StartAfter: after || undefined }),
        );
        keys.push(...(page.Contents ?? []).map(({ Key = '' }) => Key.slice(base.length)));
        after = page.IsTruncated ? base + keys.at(-1) : undefined;
      }
      return keys;
    },
    /** Reads every file. */
    async all(): Promise<Record<string, string>> {
      const keys = await this.keys();
      return Object.fromEntries(await Promise.all(keys.map(async (key) => [key, await this.read(key)])));
    },
    close: () => client.destroy(),
  };
}
