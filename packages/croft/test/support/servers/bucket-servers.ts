import { randomBytes } from 'node:crypto';
import { makeDirectory, runCroft, startServer } from '../harness.ts';
import { asOtherTool } from '../s3/mount-fixture.ts';
import type { TestS3Gateway } from '../s3/s3-server.ts';
import { addAccount, moveTo, type Server } from './installation.ts';
import { adminToken } from './platform.ts';
import type { TestPostgres } from './postgres.ts';

const key = () => randomBytes(32).toString('base64url');

/** Starts servers that share only records and a bucket, two at first, with an account on both. */
export async function startBucketServers(
  gateway: TestS3Gateway,
  postgres: TestPostgres,
  prefix: string,
  args: readonly string[] = [],
) {
  const workspace = makeDirectory();
  const [bucket, database] = [await gateway.bucket('agents'), await postgres.createDatabase()];
  const env = {
    CROFT_ADMIN_TOKEN: adminToken,
    CROFT_KEYS: `pepper ${key()},k1 ${key()}`,
    CROFT_S3_ENDPOINT: gateway.endpoint,
    CROFT_S3_BUCKET: bucket,
    CROFT_S3_PREFIX: prefix,
    CROFT_S3_REGION: gateway.region,
    CROFT_S3_ACCESS_KEY_ID: gateway.accessKeyId,
    CROFT_S3_SECRET_ACCESS_KEY: gateway.secretAccessKey,
  };
  const servers: Server[] = [];
  const start = async (): Promise<Server> => {
    const server = await startServer(['--workspace', workspace.path, '--database-url', database, ...args], { env });
    servers.push(server);
    return server;
  };
  const [one, other] = [await start(), await start()];
  const here = await addAccount(one, 'ann');
  return {
    ...{ servers, start, here, bucket, there: moveTo(other, here) },
    /** Runs a command of the operator on the data of the first server. */
    croft: (...command: readonly string[]) =>
      runCroft([...command, '--data', one.data, '--database-url', database], { env }),
    /** A workspace as another S3 tool sees it. */
    outside: (namespace: string) => asOtherTool({ ...gateway, bucket, prefix, namespace }),
    async [Symbol.asyncDispose]() {
      for (const server of servers) await server[Symbol.asyncDispose]();
      workspace[Symbol.dispose]();
    },
  };
}
