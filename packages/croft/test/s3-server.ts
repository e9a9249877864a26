import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isMainThread } from 'node:worker_threads';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { vi } from 'vitest';
import { findPort, type Gateway, s3Keys, startGatewayAt } from './s3-cluster.ts';

const run = promisify(execFile);
const programs = ['radosgw', 'radosgw-admin', 'ceph-mon', 'ceph-osd', 'ceph', 'monmaptool', 'setpriv'];

export interface TestS3 {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
  /** Makes an empty one and answers what it is really called: other test files use the same server. */
  bucket(name?: string): Promise<string>;
  /** Left for symmetry where all share it: the server ends with the run. */
  stop(): Promise<void>;
}

export interface TestS3Gateway extends TestS3 {
  /** SIGKILL. Its buckets are still there when it is back. */
  kill(): Promise<void>;
  restart(): Promise<void>;
}

/**
 * A real S3 server from Debian's packages, one for all test files of a run: to be awaited outside of any test, because it
 * takes its time. `undefined`: it is said why. An endpoint given by environment is used instead (`CROFT_TEST_S3_ENDPOINT`, `_KEY`, `_SECRET`, `_REGION`, `_BUCKET`).
 */
export async function startS3(): Promise<TestS3 | undefined> {
  const { CROFT_TEST_S3_ENDPOINT: endpoint, CROFT_TEST_S3_BUCKET: bucket } = process.env;
  if (endpoint !== undefined) return toServer(endpoint, keysOfEnvironment(), bucket);
  const ground = await sharedCluster();
  return ground === undefined ? undefined : toServer(readFileSync(join(ground, 'endpoint'), 'utf8'), s3Keys);
}

/** A gateway of the test's own, to the same buckets, that it may kill. `undefined` also for an endpoint of the environment. */
export async function startS3Gateway(): Promise<TestS3Gateway | undefined> {
  if (process.env.CROFT_TEST_S3_ENDPOINT !== undefined) {
    console.warn('SKIPPED, because an S3 server of the environment cannot be killed');
    return undefined;
  }
  const ground = await sharedCluster();
  if (ground === undefined) return undefined;
  const gateway: Gateway = await startGatewayAt(ground, `t${randomBytes(4).toString('hex')}`, await findPort());
  const { kill, restart } = gateway;
  return { ...toServer(gateway.endpoint, s3Keys), kill, restart, stop: kill };
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

/** The directory of the cluster of this run. Whoever is first starts it, and everybody waits until it is there. */
async function sharedCluster(): Promise<string | undefined> {
  if (!(await arePrograms())) return undefined;
  const owner = String(isMainThread ? process.ppid : process.pid);
  const ground = join(tmpdir(), `croft-test-s3-${owner}`);
  if (makeFirst(ground)) startKeeper(ground, owner);
  await vi.waitFor(() => mustBeUp(ground), { timeout: 180_000, interval: 100 });
  const failed = readIfThere(join(ground, 'failed'));
  if (failed !== undefined) throw new Error(`the S3 server did not start: ${failed}`);
  return ground;
}

function makeFirst(directory: string): boolean {
  try {
    mkdirSync(directory, { mode: 0o700 });
    return true;
  } catch {
    return false;
  }
}

function startKeeper(ground: string, owner: string): void {
  const script = join(import.meta.dirname, 's3-keeper.ts');
  spawn(process.execPath, [script, ground, owner], { detached: true, stdio: 'ignore', cwd: '/' }).unref();
}

function mustBeUp(ground: string): void {
  if (!existsSync(join(ground, 'endpoint')) && !existsSync(join(ground, 'failed'))) throw new Error('it is not up');
}

function readIfThere(path: string): string | undefined {
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

/** As `postgres.ts` does it, and one after the other with it. */
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
