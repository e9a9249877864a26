import { randomBytes } from 'node:crypto';
import { describe } from 'vitest';
import { createObjectStore } from '../../src/storages/s3/client/object-store.ts';
import { describeObjectStore } from '../contracts/object-store.ts';
import { startS3 } from '../support/s3/s3-server.ts';

const server = await startS3();
const bucket = (await server?.bucket('objects')) ?? '';

describe.skipIf(!server)('a real service', () => {
  describeObjectStore('Ceph', async () => {
    const settings = { ...server!, bucket, credentials: server!, allowPrivate: true };
    const prefix = `t-${randomBytes(6).toString('hex')}`;
    const reopen = () => createObjectStore({ ...settings, prefix });
    return { store: reopen(), reopen, beside: () => createObjectStore({ ...settings, prefix: `${prefix}-beside` }) };
  });
});
