import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isMainThread } from 'node:worker_threads';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { vi } from 'vitest';
import { findPort, type Gateway, s3Keys, startGatewayAt } from './ceph-cluster.ts';

const run = promisify(execFile);
const programs = ['radosgw', 'radosgw-admin', 'ceph-mon', 'ceph-osd', 'ceph', 'monmaptool', 'setpriv'];

export interface TestS3 {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
  /** Creates an empty bucket and returns its real name: other test files use the same server. */
  bucket(name?: string): Promise<string>;
  /** Does nothing for the shared server, which ends with the run. */
  stop(): Promise<void>;
}

export interface TestS3Gateway extends TestS3 {
  /** Kills it with SIGKILL. Its buckets still exist when it is back. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  /** Stops it with SIGSTOP until `resume`. */
  hang(): void;
  resume(): void;
}

/**
 * Starts a real S3 server from Debian's packages, one for all test files of a run. Await it outside of tests, because
 * it takes long. Returns `undefined` and prints why if there is none. `CROFT_TEST_S3_ENDPOINT`, `_KEY`, `_SECRET`,
 * `_REGION` and `_BUCKET` name an endpoint to use instead.
 */
export async function startS3(): Promise<TestS3 | undefined> {
  const { CROFT_TEST_S3_ENDPOINT: endpoint, CROFT_TEST_S3_BUCKET: bucket } = process.env;
  if (endpoint !== undefined) return toServer(endpoint, keysOfEnvironment(), bucket);
  const baseDirectory = await sharedCluster();
  return baseDirectory === undefined
    ? undefined
    : toServer(readFileSync(join(baseDirectory, 'endpoint'), 'utf8'), s3Keys);
}

/**
 * Starts a gateway of the test's own to the same buckets, which the test may kill. Returns `undefined` for an endpoint
 * of the environment too.
 */
export async function startS3Gateway(): Promise<TestS3Gateway | undefined> {
  if (process.env.CROFT_TEST_S3_ENDPOINT !== undefined) {
    console.warn('SKIPPED, because an S3 server of the environment cannot be killed');
    return undefined;
  }
  const baseDirectory = await sharedCluster();
  if (baseDirectory === undefined) return undefined;
  const gateway: Gateway = await startGatewayAt(baseDirectory, `t${randomBytes(4).toString('hex')}`, await findPort());
  const { kill, restart, hang, resume } = gateway;
  return { ...toServer(gateway.endpoint, s3Keys), kill, restart, hang, resume, stop: kill };
}

type Keys = typeof s3Keys;

function keysOfEnvironment(): Keys {
  const { CROFT_TEST_S3_KEY = '', CROFT_TEST_S3_SECRET = '' } = process.env;
  return { accessKeyId: CROFT_TEST_S3_KEY, secretAccessKey: CROFT_TEST_S3_SECRET };
}

function toServer(endpoint: string, keys: Keys, only?: string): TestS3 {
  const region = process.env.CROFT_TEST_S3_REGION ?? 'us-east-1';
  return {
    ...{ endpoint, ...keys, region },
    async bucket(name = 'test') {
      if (only !== undefined) return only;
      const Bucket = `${name}-${randomBytes(6).toString('hex')}`;
      const client = new S3Client({ endpoint, region, credentials: keys, forcePathStyle: true });
      await client.send(new CreateBucketCommand({ Bucket }));
      client.destroy();
      return Bucket;
    },
    stop: async () => {},
  };
}

/** Returns the directory of this run's cluster. The first caller starts it, and all others wait for it. */
async function sharedCluster(): Promise<string | undefined> {
  if (!(await arePrograms())) return undefined;
  const owner = String(isMainThread ? process.ppid : process.pid);
  const baseDirectory = join(tmpdir(), `croft-test-s3-${owner}`);
  if (makeFirst(baseDirectory)) startHolderProcess(baseDirectory, owner);
  await vi.waitFor(() => mustBeUp(baseDirectory), { timeout: 180_000, interval: 100 });
  const failed = readIfPresent(join(baseDirectory, 'failed'));
  if (failed !== undefined) throw new Error(`the S3 server did not start: ${failed}`);
  return baseDirectory;
}

function makeFirst(directory: string): boolean {
  try {
    mkdirSync(directory, { mode: 0o700 });
    return true;
  } catch {
    return false;
  }
}

function startHolderProcess(baseDirectory: string, owner: string): void {
  const script = join(import.meta.dirname, 'keep-cluster.ts');
  spawn(process.execPath, [script, baseDirectory, owner], { detached: true, stdio: 'ignore', cwd: '/' }).unref();
}

function mustBeUp(baseDirectory: string): void {
  if (!existsSync(join(baseDirectory, 'endpoint')) && !existsSync(join(baseDirectory, 'failed')))
    throw new Error('it is not up');
}

function readIfPresent(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

async function arePrograms(): Promise<boolean> {
  if (findMissing().length === 0) return true;
  const isPossible = process.getuid?.() === 0 && existsSync('/etc/debian_version');
  if (isPossible) console.warn('installing Ceph');
  const trouble = isPossible ? await aptInstall().catch(String) : 'not root on Debian';
  const missing = findMissing();
  if (missing.length > 0) console.warn(`SKIPPED, because there is no S3 server (${missing.join(', ')}): ${trouble}`);
  return missing.length === 0;
}

function findMissing(): string[] {
  return programs.filter((name) => !existsSync(`/usr/bin/${name}`));
}

/** Installs like `postgres.ts`, under the same lock. */
async function aptInstall(): Promise<string> {
  const lock = join(tmpdir(), 'croft-test-apt.lock');
  const get = ['timeout', '300', 'apt-get', '-y', '-o', 'DPkg::Lock::Timeout=120'];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...args: readonly string[]) => run('flock', ['--timeout', '400', lock, ...get, ...args], { env });
  const install = () => apt('install', '--no-install-recommends', 'radosgw', 'ceph-mon', 'ceph-osd', 'ceph-common');
  await install().catch(async () => {
    await apt('update');
    await install();
  });
  return '';
}
