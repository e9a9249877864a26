import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { serveObjects } from '../../src/app/fleet/serve-objects.ts';
import type { ObjectStore } from '../../src/core/storage/object-store.ts';
import type { StoredMount, WorkspaceQuota } from '../../src/core/storage/stored-mount.ts';
import type { Peer } from '../../src/link/calls/peer.ts';
import { createRemoteWorkspace } from '../../src/providers/index.ts';
import { restrictToWorkspace } from '../../src/storages/index.ts';
import { pathOfFileOrMarker } from '../../src/storages/s3/layout/object-keys.ts';
import { keysChangedSince, readHead } from '../../src/storages/s3/layout/workspace-head.ts';
import { describeStoredMount } from '../contracts/stored-mount.ts';
import { type BucketLocation, connect, newBucketLocation } from '../support/s3/mount-fixture.ts';
import { startS3 } from '../support/s3/s3-server.ts';
import { type LinkEndpoint, startLinkEndpoint } from './link-endpoint.ts';
import { describeInNetworks, type Network } from './networks.ts';

const server = await startS3();
const bucket = (await server?.bucket('runners')) ?? '';

/** A real `croft runner`, and the server's end of its link, which gives out the objects of any workspace by its name. */
interface Machine {
  readonly root: string;
  readonly peer: Peer;
}

/** A workspace as a runner keeps it. Its directory is of this machine, where tests are; what is done with it is asked of the runner. */
async function openAt({ peer, root }: Machine, location: BucketLocation, objects: ObjectStore, quota?: WorkspaceQuota) {
  const { namespace } = location;
  // Another mark each time, so that the runner lets go of what it has open, and begins as after a restart.
  const opened = { objects: namespace, mark: randomBytes(8).toString('hex'), onOutage: 'refuse' } as const;
  const request = { namespace, workspace: 'any', name: 'ws', bucket: opened, quota };
  const { files, root: seen, wrapCall } = await createRemoteWorkspace(peer, request);
  const within = (access: 'read' | 'write' | 'execute', signal: AbortSignal) =>
    wrapCall!({ tool: 'any', access, session: 'any', title: '', signal }, async () => {});
  const head = async () => {
    const found = await readHead(objects, namespace);
    return found === undefined || found === 'unchanged' ? { version: 0, commits: [] } : found.head;
  };
  const mount: Omit<StoredMount, 'tree' | 'history' | 'handle'> = {
    ...{ directory: join(root, 'mounts', namespace, 'files'), root: seen, files },
    mustBeThere() {},
    refresh: (signal) => within('read', signal),
    flush: (signal) => within('write', signal),
    async commit(signal) {
      const { version } = await head();
      await within('write', signal);
      const keys = [...(keysChangedSince(await head(), version, '') ?? [])];
      return { committed: keys.map((key) => pathOfFileOrMarker(key) ?? '').sort(), conflicts: [], queued: [] };
    },
    materialize: (_, signal) => within('execute', signal),
    close: async () => {},
  };
  await within('read', new AbortController().signal);
  return mount as StoredMount;
}

function describeContract(open: () => Network): void {
  const ends = new AsyncDisposableStack();
  const stores = new Map<string, ObjectStore>();
  const machines = new Map<number, Promise<Machine>>();
  let [network, door]: [Network?, LinkEndpoint?] = [];
  beforeAll(async () => {
    network = open();
    ends.defer(network.end);
    door = ends.use(await startLinkEndpoint(network.endpoint));
  });
  afterAll(() => ends.disposeAsync());

  async function start(): Promise<Machine> {
    const { token, peer } = door!.expect();
    const { root } = ends.use(await network!.start({ url: door!.url, token }));
    const link = await peer;
    link.serve(serveObjects(async (namespace) => restrictToWorkspace(stores.get(namespace)!, namespace)));
    return { root, peer: link };
  }

  describeStoredMount('a bucket, on runners', async () => {
    const location = newBucketLocation(server!, bucket);
    const objects = connect(location);
    stores.set(location.namespace, objects);
    return {
      async open(number, { quota } = {}) {
        const machine = machines.get(number) ?? start();
        machines.set(number, machine);
        return openAt(await machine, location, objects, quota);
      },
      [Symbol.asyncDispose]: async () => objects.close(),
    };
  });
}

describe.skipIf(!server)('a workspace in a bucket, on a runner', () => describeInNetworks(describeContract));
