import { randomBytes } from 'node:crypto';
import { makeDirectory } from '../support/harness.ts';
import type { TestS3 } from '../support/s3/s3-server.ts';
import {
  addAccount,
  type Installation,
  moveTo,
  openInstallation,
  type Server,
} from '../support/servers/installation.ts';
import type { Account } from '../support/servers/platform.ts';
import type { TestPostgres } from '../support/servers/postgres.ts';

const key = () => randomBytes(32).toString('base64url');

export type TestCluster = Awaited<ReturnType<typeof startCluster>>;

interface ClusterOptions {
  readonly size?: number;
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
  /** The URL of the database for the server of that number. */
  toDatabaseUrl?(url: string, index: number): Promise<string> | string;
  /** Without it, there is no bucket. */
  readonly s3?: TestS3 | undefined;
}

/** Starts servers with data directories of their own on one database, and an account that each of them has. */
export async function startCluster(
  postgres: TestPostgres,
  { size = 2, args = [], env: more = {}, s3, toDatabaseUrl = (own) => own }: ClusterOptions = {},
) {
  const url = await postgres.createDatabase();
  const env = { CROFT_KEYS: `pepper ${key()},k1 ${key()}`, ...(s3 && (await toS3Settings(s3))), ...more };
  const installations: Installation[] = [];
  const servers: Server[] = [];
  for (let count = 0; count < size; count += 1) {
    const installation = openInstallation(['--database-url', await toDatabaseUrl(url, count), ...args], env);
    installations.push(installation);
    servers.push(await installation.start());
  }
  const [first] = servers;
  const account = await addAccount(first as Server, 'ann');
  return {
    ...{ url, env, servers, installations },
    /** The account on the server of that number. */
    at: (index: number): Account => moveTo(servers[index] as Server, account),
    /** Starts the server of that number again, on its data directory. */
    async restart(index: number): Promise<void> {
      servers[index] = await (installations[index] as Installation).start();
    },
    async [Symbol.asyncDispose]() {
      for (const installation of installations) await installation[Symbol.asyncDispose]();
    },
  };
}

async function toS3Settings(s3: TestS3): Promise<Record<string, string>> {
  return {
    CROFT_S3_ENDPOINT: s3.endpoint,
    CROFT_S3_BUCKET: await s3.bucket('cluster'),
    CROFT_S3_REGION: s3.region,
    CROFT_S3_ACCESS_KEY_ID: s3.accessKeyId,
    CROFT_S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
  };
}

/** An agent with a workspace and a sandbox that asks nobody. */
export async function newAgent(account: Account, config: object = {}, sandboxConfig: object = {}) {
  const sandboxId = await account.newSandbox({ permissionMode: 'bypass', ...sandboxConfig });
  const workspaceId = await account.newWorkspace(config);
  const agent = await account.newAgent({ sandbox: sandboxId, workspaces: [{ name: 'w', workspaceId }] });
  return { agent, sandboxId, workspaceId };
}

export { makeDirectory };
