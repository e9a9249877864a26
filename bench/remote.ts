import { closeSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Files } from '../packages/croft/src/core/files/files.ts';
import type { RunnerWorkspace } from '../packages/croft/src/core/runner-workspaces/runner-workspace.ts';
import { createRemoteWorkspace } from '../packages/croft/src/providers/index.ts';
import { openLocalDirectory } from '../packages/croft/src/storages/index.ts';
import { startLinkEndpoint } from '../packages/croft/test/remote/link-endpoint.ts';
import { type Bench, type Row, type Say, toRow } from './bench.ts';
import { compare, type Side } from './compare.ts';
import { atMostTimes } from './goals.ts';
import { startHttpCroft } from './http-server.ts';
import { limits, openPort, runIn } from './open-provider-port.ts';
import { openRestAccount } from './rest-client.ts';
import { makeScratch, toSource } from './scratch-trees.ts';
import { startRunner } from './start-runner.ts';

const goal = atMostTimes(1, { plusMs: 1 });
const network = { mode: 'deny-all' } as const;
const uploadBytes = 8 * 1024 ** 2;

/**
 * Compares a workspace on a runner (a process of its own on this machine, behind a real socket) with a local workspace.
 */
export const remote: Bench = {
  name: 'remote',
  async run(say) {
    using scratch = makeScratch();
    const rows = [...(await atThePorts(scratch.path, say)), await throughRest(scratch.path, say)];
    return { rows, about: { runner: 'one, on loopback, without TLS' } };
  },
};

async function atThePorts(scratch: string, say: Say): Promise<Row[]> {
  const directory = join(scratch, 'work');
  mkdirSync(directory);
  await using door = await startLinkEndpoint();
  const { token, peer } = door.expect();
  const offers = ['--workspaces', `bench=${directory}`] as const;
  await using _ = startRunner({ url: door.url, token, offers, data: join(scratch, 'runner') });
  const request = { namespace: `fs-${'0'.repeat(40)}`, workspace: 'bench', name: 'bench' };
  const workspace = await createRemoteWorkspace(await peer, request);
  return [await execAtThePort(workspace, directory, say), ...(await filesAtThePort(workspace.files, directory, say))];
}

async function execAtThePort({ openSandbox }: RunnerWorkspace, directory: string, say: Say): Promise<Row> {
  say('a command, at the port');
  const there = await openSandbox({ limits, network });
  using port = openPort(directory);
  const here = await port.open();
  const ours = { run: () => runIn(there) };
  const times = await compare({ ours, theirs: here, rounds: 400, warmUp: 50 });
  await Promise.all([there.close(), here.close()]);
  return toRow({ what: 'remote exec bash -c true, at the port', against: 'a sandbox of its own', goal, ...times });
}

async function filesAtThePort(there: Files, directory: string, say: Say): Promise<Row[]> {
  say('files, at the port');
  writeFileSync(join(directory, 'small.ts'), toSource(0));
  const { files: here, handle } = openLocalDirectory({ path: directory });
  const reading = { ours: read(there), theirs: read(here), rounds: 400, warmUp: 50 };
  const uploading = { ours: upload(there, 'there.bin'), theirs: upload(here, 'here.bin'), rounds: 15, warmUp: 3 };
  const against = 'files of its own';
  const rows = [
    toRow({ what: 'remote read of 2 kB, at the port', against, ...(await compare(reading)) }),
    toRow({ what: 'remote upload of 8 MiB, at the port', against, ...(await compare(uploading)) }),
  ];
  closeSync(handle);
  return rows;
}

function read(files: Files): Side {
  const expected = toSource(0);
  return {
    async run() {
      const { bytes } = await files.read('small.ts');
      if (bytes.toString() !== expected) throw new Error('it is not what was written');
    },
  };
}

function upload(files: Files, path: string): Side {
  const piece = Buffer.alloc(64 * 1024, 'x');
  async function* pieces() {
    for (let sent = 0; sent < uploadBytes; sent += piece.length) yield piece;
  }
  return {
    async run() {
      const { size } = await files.upload(path, pieces(), { maxBytes: uploadBytes });
      if (size !== uploadBytes) throw new Error(`${size} bytes arrived`);
    },
  };
}

async function throughRest(scratch: string, say: Say): Promise<Row> {
  say('a command, through REST');
  mkdirSync(join(scratch, 'server'));
  await using server = await startHttpCroft(join(scratch, 'server'));
  const account = await openRestAccount(server);
  const token = await account.newRunner('far');
  const offers = ['--root', join(scratch, 'root')] as const;
  mkdirSync(offers[1]);
  await using _ = startRunner({ url: server.url, token, offers, data: join(scratch, 'agents') });
  while (!(await account.isOnline('far'))) await pause(50);
  const [there, here] = [
    await (await account.newAgent('there', { provider: 'remote', runner: 'far' })).openSession(),
    await (await account.newAgent('here')).openSession(),
  ];
  const times = await compare({
    ours: { run: () => there.bash('true') },
    theirs: { run: () => here.bash('true') },
    rounds: 300,
    warmUp: 30,
  });
  await Promise.all([there.end(), here.end()]);
  return toRow({ what: 'remote exec true, through REST', against: 'a sandbox of the server', goal, ...times });
}
