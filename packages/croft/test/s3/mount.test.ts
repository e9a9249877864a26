import { describe } from 'vitest';
import { describeStoredMount } from '../contracts/stored-mount.ts';
import { startS3 } from '../s3-server.ts';
import { makeData, newPlace, openMount } from './mount-ground.ts';

const server = await startS3();
const bucket = (await server?.bucket('mount')) ?? '';

describe.skipIf(!server)('on a real service', () => {
  describeStoredMount('S3', async () => {
    const place = newPlace(server!, bucket);
    const servers = new Map<number, ReturnType<typeof makeData>>();
    return {
      async open(server, options = {}) {
        const data = servers.get(server) ?? makeData();
        servers.set(server, data);
        return openMount({ data: data.path, place, ...options });
      },
      async [Symbol.asyncDispose]() {
        for (const data of servers.values()) data[Symbol.dispose]();
      },
    };
  });
});
