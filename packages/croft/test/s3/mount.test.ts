import { describe } from 'vitest';
import { describeStoredMount } from '../contracts/stored-mount.ts';
import { makeData, newBucketLocation, openMount } from '../support/s3/mount-fixture.ts';
import { startS3 } from '../support/s3/s3-server.ts';

const server = await startS3();
const bucket = (await server?.bucket('mount')) ?? '';

describe.skipIf(!server)('on a real service', () => {
  describeStoredMount('S3', async () => {
    const location = newBucketLocation(server!, bucket);
    const servers = new Map<number, ReturnType<typeof makeData>>();
    return {
      async open(server, options = {}) {
        const data = servers.get(server) ?? makeData();
        servers.set(server, data);
        return openMount({ data: data.path, bucketLocation: location, ...options });
      },
      async [Symbol.asyncDispose]() {
        for (const data of servers.values()) data[Symbol.dispose]();
      },
    };
  });
});
