import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import type { Offer, OfferedWorkspace } from '../../src/core/runners/offer.ts';
import { createDiskFiles } from '../../src/disk/files.ts';
import { openRoot } from '../../src/disk/handles.ts';
import type { Handler, Peer } from '../../src/link/peer.ts';
import { createBubblewrap } from '../../src/providers/bubblewrap/provider.ts';
import { createRemoteWorkspace } from '../../src/providers/index.ts';
import { serveOffer } from '../../src/runner/serve-offer.ts';
import { makeDirectory } from '../harness.ts';
import { connectPeers } from '../link/connect-peers.ts';
import { operator } from '../open-sandbox.ts';

export const wish = { namespace: 'fs-0', workspace: 'work', name: 'work' };
const bubblewrap = createBubblewrap(operator);

/** A directory of this machine as a runner offers it, without histories. */
export function offerDirectory(directory: string): OfferedWorkspace & Disposable {
  const handle = openRoot(directory);
  return {
    root: '/workspace',
    access: 'read-write',
    files: createDiskFiles({ handle, names: [directory, '/workspace'] }),
    withSearchBox: () => Promise.reject(new Error('not here')),
    openSandbox: (wanted) =>
      bubblewrap.open({ directory: handle, workspacePath: '/workspace', readable: [], ...wanted }),
    [Symbol.dispose]: () => closeSync(handle),
  };
}

/** Both halves of the ports with a link between them, over a directory of its own. */
export async function openGround() {
  const ground = makeDirectory();
  const directory = ground.at('work');
  mkdirSync(directory);
  const offered = offerDirectory(directory);
  const offer: Offer = { open: async () => offered, remove: async () => false };
  const [server, runner] = connectPeers();
  serveOffer(runner, offer);
  const workspace = await createRemoteWorkspace(server, wish);
  return {
    ...{ directory, offer, offered, server, runner, workspace },
    files: workspace.files,
    at: (name: string) => `${directory}/${name}`,
    async [Symbol.asyncDispose]() {
      server.close('the test is over');
      await runner.lost;
      offered[Symbol.dispose]();
      ground[Symbol.dispose]();
    },
  };
}

export type Ground = Awaited<ReturnType<typeof openGround>>;

/** Gone with its test. */
export async function openOwnGround(): Promise<Ground> {
  const ground = await openGround();
  onTestFinished(() => ground[Symbol.asyncDispose]());
  return ground;
}

/** A runner that answers what the test wants. What it opens is fine, unless it says otherwise. */
export async function openLying(handlers: Readonly<Record<string, Handler>>) {
  const [server, runner] = connectPeers();
  onTestFinished(() => server.close('the test is over'));
  const has = { history: true, watch: true, transactions: true };
  const open: Handler = async () => ({ place: 'p', root: '/workspaces/w', access: 'read-write', has });
  runner.serve({ 'workspace.open': open, ...handlers });
  return { ...(await createRemoteWorkspace(server, wish)), runner };
}

/** A server that asks whatever it likes. */
export function asking(peer: Peer) {
  return (method: string, params: unknown) => peer.call(method, params, {}).answer;
}

/** Whether a program with this argument runs anywhere on this machine. */
export function isRunning(argument: string): boolean {
  return spawnSync('pgrep', ['-f', `^sleep ${argument}$`]).status === 0;
}
