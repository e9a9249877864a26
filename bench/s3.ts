import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { createLocalTrees } from '../packages/croft/src/history/local-trees.ts';
import { createObjectStore } from '../packages/croft/src/storages/s3/client/object-store.ts';
import { openS3Mount } from '../packages/croft/src/storages/s3/mount/s3-mount.ts';
import { type Gateway, s3Keys, startCluster } from '../packages/croft/test/support/s3/ceph-cluster.ts';
import { type Bench, type Row, type Say, toRow, toUnmeasuredRow } from './bench.ts';
import { compare, type Side } from './compare.ts';
import { atMostTimes } from './goals.ts';
import { run } from './run-program.ts';
import { makeScratch, makeTree, type Tree, toSource } from './scratch-trees.ts';

const files = 10_000;
const changed = 100;
const bucket = 'bench';
const namespace = `fs-${'0'.repeat(40)}`;
const goal = atMostTimes(1);
const lines = {
  open: { what: 'S3 mount, open 10,000 objects', against: 'rclone sync', goal },
  commit: { what: 'S3 mount, commit 100 changed of 10,000', against: 'rclone sync', goal },
};

/** A workspace in a bucket of a real S3 server on this machine, which takes its share of the cores from both. */
export const s3: Bench = {
  name: 's3',
  async run(say) {
    const missing = ['radosgw', 'ceph-mon', 'ceph-osd', 'rclone'].filter((name) => !existsSync(`/usr/bin/${name}`));
    if (missing.length > 0) return { rows: Object.values(lines).map((line) => toUnmeasuredRow(line, `no ${missing}`)) };
    using scratch = makeScratch();
    say('an S3 server');
    mkdirSync(join(scratch.path, 'cluster'));
    await using gateway = await startCluster(join(scratch.path, 'cluster'));
    const root = await fill(gateway, scratch.path, say);
    const rows = [await measureOpen(root, say), await measureCommit(root, say)];
    return { rows, about: { server: 'Ceph RGW, in memory, on loopback' } };
  },
};

interface FilledBucket {
  readonly endpoint: string;
  readonly scratch: string;
  readonly tree: Tree;
  rclone(...args: readonly string[]): Promise<string>;
}

async function fill({ endpoint }: Gateway, scratch: string, say: Say): Promise<FilledBucket> {
  const client = new S3Client({ endpoint, region: 'us-east-1', credentials: s3Keys, forcePathStyle: true });
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  client.destroy();
  const config = join(scratch, 'rclone.conf');
  const { accessKeyId, secretAccessKey } = s3Keys;
  const settings = {
    type: 's3',
    provider: 'Ceph',
    endpoint,
    access_key_id: accessKeyId,
    secret_access_key: secretAccessKey,
  };
  const text = Object.entries(settings).map((entry) => entry.join(' = '));
  writeFileSync(config, ['[store]', ...text, ''].join('\n'));
  const env = { PATH: process.env.PATH ?? '', HOME: scratch };
  const rclone = (...args: readonly string[]) => run('rclone', ['--config', config, ...args], env);
  const tree = makeTree(join(scratch, 'tree'), files);
  say(`${files} objects`);
  await rclone('sync', '--transfers', '16', tree.directory, `store:${bucket}/p/${namespace}`);
  return { endpoint, scratch, tree, rclone };
}

async function openMount({ endpoint }: FilledBucket, directory: string) {
  const trees = createLocalTrees();
  const options = { bucket, endpoint, region: 'us-east-1', prefix: 'p', credentials: s3Keys, allowPrivate: true };
  const objects = createObjectStore(options);
  const store = await trees.openStore(join(directory, 'history'));
  const mount = await openS3Mount({
    ...{ objects, namespace, directory: join(directory, 'mount'), store, name: 'w', access: 'read-write' },
    onOutage: 'refuse',
    openTree: (handle) => trees.openTree({ directoryFd: handle, store, state: join(directory, 'tree') }),
  });
  return {
    mount,
    async close(): Promise<void> {
      await mount.close();
      await store[Symbol.asyncDispose]();
      objects.close();
    },
  };
}

async function measureOpen(root: FilledBucket, say: Say): Promise<Row> {
  say(lines.open.what);
  const [own, other] = [join(root.scratch, 'own'), join(root.scratch, 'other')];
  const clear = async (directory: string) => rmSync(directory, { recursive: true, force: true });
  const ours: Side = {
    prepare: () => clear(own),
    async run() {
      const { mount, close } = await openMount(root, own);
      const probe = root.tree.paths.at(-1) ?? '';
      const { bytes } = await mount.files.read(probe.slice(root.tree.directory.length + 1));
      if (!bytes.equals(readFileSync(probe))) throw new Error('a file of the mount is not what it should be');
      await close();
    },
  };
  const theirs: Side = {
    prepare: () => clear(other),
    run: () => root.rclone('sync', `store:${bucket}/p/${namespace}`, other),
  };
  return toRow({ ...lines.open, ...(await compare({ ours, theirs, rounds: 3, warmUp: 1 })) });
}

async function measureCommit(root: FilledBucket, say: Say): Promise<Row> {
  say(lines.commit.what);
  const { mount, close } = await openMount(root, join(root.scratch, 'own'));
  const { signal } = new AbortController();
  const change = (round: number, at: (path: string) => string) => {
    for (let index = 0; index < changed; index++) {
      const path = root.tree.paths[(round * changed + index * 97) % files] ?? '';
      writeFileSync(at(path), toSource(root.tree.next(path)));
    }
  };
  const ours: Side = {
    prepare: async (round) => change(round, (path) => join(mount.directory, path.slice(root.tree.directory.length))),
    async run() {
      await mount.refresh(signal);
      const { committed } = await mount.commit(signal);
      if (committed.length < changed) throw new Error(`only ${committed.length} of ${changed} were committed`);
    },
  };
  const other = `store:${bucket}/q/${namespace}`;
  await root.rclone('sync', '--transfers', '16', root.tree.directory, other);
  const theirs: Side = {
    prepare: async (round) => change(round, (path) => path),
    run: () => root.rclone('sync', root.tree.directory, other),
  };
  const times = await compare({ ours, theirs, rounds: 5, warmUp: 1 });
  await close();
  return toRow({ ...lines.commit, ...times });
}
