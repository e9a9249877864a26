import { describe, expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import type { WorkspaceConfig } from '../../src/core/accounts/ports/registry.ts';
import { openWorkspaceBucket, type WorkspaceBucketOptions } from '../../src/storages/s3/open-workspace-bucket.ts';
import { keysIn, sendable } from '../contracts/object-store.ts';
import { startFaultyProxy } from '../support/faults/faulty-proxy.ts';
import { startS3 } from '../support/s3/s3-server.ts';

const server = await startS3();
const bucket = (await server?.bucket('opened')) ?? '';

type Storage = WorkspaceConfig['storage'];

function prepare(means: Partial<WorkspaceBucketOptions> = {}) {
  const { endpoint, region, accessKeyId, secretAccessKey } = server!;
  const credentials = { accessKeyId, secretAccessKey };
  const managed = { bucket, endpoint, region, prefix: 'managed', credentials };
  const secrets: Record<string, string> = { S3_SECRET: secretAccessKey };
  const readSecret = async (name: string) => secrets[name];
  const auth = { type: 'secret', accessKeyId, secretName: 'S3_SECRET' };
  const own: Storage = { provider: 's3', bucket, endpoint, prefix: 'own', auth };
  const open = async (storage: Storage) => {
    const objects = await openWorkspaceBucket(storage, { managed, allowPrivate: true, readSecret, ...means });
    onTestFinished(() => objects.close());
    return objects;
  };
  return { open, own, auth };
}

describe.skipIf(!server)('the bucket of a workspace', () => {
  test('is that of the operator, below its prefix, or its own with a secret of its account', async () => {
    const { open, own } = prepare();
    await (await open({ provider: 's3' })).put('a', sendable('a'));
    await (await open({ provider: 's3', auth: { type: 'managed' } })).put('b', sendable('b'));
    await (await open(own)).put('c', sendable('c'));
    const whole = await open({ ...own, prefix: '' });
    expect(await keysIn(whole)).toEqual(['managed/a', 'managed/b', 'own/c']);
  });

  test('is never opened with the keys of the operator if an account names it', async () => {
    const { open } = prepare();
    const elsewhere = await startFaultyProxy(server!.endpoint);
    onTestFinished(() => elsewhere[Symbol.asyncDispose]());
    const named = { provider: 's3', bucket: 'theirs', endpoint: elsewhere.url, prefix: 'x' } as const;
    await (await open(named)).put('k', sendable('k'));
    expect(elsewhere.seen).toEqual([]);
  });

  test('has errors that name a missing setting', async () => {
    const { open, own, auth } = prepare({ managed: undefined });
    await expect(open({ provider: 's3' })).rejects.toMatchObject({ code: 'E_STORAGE_FAILED' });
    await expect(open({ ...own, auth: { ...auth, secretName: 'NONE' } })).rejects.toMatchObject({
      code: 'E_NOT_FOUND',
      message: expect.stringContaining('NONE'),
    });
    await expect(open({ ...own, auth: { type: 'assumeRole', roleArn: 'arn:x' } })).rejects.toMatchObject({
      code: 'E_STORAGE_FAILED',
    });
    const wrong = await open({ ...own, auth: { ...auth, accessKeyId: 'nobody' } });
    await expect(wrong.get('k')).rejects.toMatchObject({ code: 'E_STORAGE_FAILED' });
  });

  test('may be at a private address only if the operator allows it, or if it is that of the operator', async () => {
    const { open, own } = prepare({ allowPrivate: false });
    await expect(open(own)).rejects.toMatchObject({ code: 'E_INVALID_INPUT' });
    expect(await (await open({ provider: 's3' })).head('none')).toBeUndefined();
  });
});

test('the settings for the bucket of the operator are complete or refused', () => {
  const keys = { CROFT_S3_ACCESS_KEY_ID: 'AK', CROFT_S3_SECRET_ACCESS_KEY: 'SK' };
  expect(loadConfig({ AWS_ACCESS_KEY_ID: 'theirs' }).s3).toEqual({ allowPrivate: false });
  expect(loadConfig({ CROFT_S3_ALLOW_PRIVATE: '1' }).s3).toEqual({ allowPrivate: true });
  expect(loadConfig({ CROFT_S3_BUCKET: 'bucket', ...keys }).s3.managed).toEqual({
    ...{ bucket: 'bucket', endpoint: undefined, region: 'us-east-1', prefix: '' },
    credentials: { accessKeyId: 'AK', secretAccessKey: 'SK' },
  });
  expect(() => loadConfig({ CROFT_S3_BUCKET: 'bucket' })).toThrow('CROFT_S3_ACCESS_KEY_ID');
  expect(() => loadConfig({ CROFT_S3_BUCKET: 'bucket', ...keys, CROFT_S3_ENDPOINT: 'file:///x' })).toThrow(
    'CROFT_S3_ENDPOINT',
  );
});
