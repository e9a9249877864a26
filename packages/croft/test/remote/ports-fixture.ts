import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import type { RunnerWorkspace, RunnerWorkspaces } from '../../src/core/runner-workspaces/runner-workspace.ts';
import { createDiskFiles } from '../../src/disk/disk-files.ts';
import { openRoot } from '../../src/disk/paths/handles.ts';
import type { CallHandler, Peer } from '../../src/link/calls/peer.ts';
import { createBubblewrap } from '../../src/providers/bubblewrap/provider.ts';
import { createRemoteWorkspace } from '../../src/providers/index.ts';
import { serveWorkspaces } from '../../src/runner/serve-workspaces.ts';
import { connectPeers } from '../link/connect-peers.ts';
import { makeDirectory } from '../support/harness.ts';
import { operator } from '../support/sandboxes/open-sandbox.ts';

export const workspaceRequest = { namespace: 'fs-0', workspace: 'work', name: 'work' };
const bubblewrap = createBubblewrap(operator);

/** Offers a directory of this machine as a runner does, without histories. */
export function offerDirectory(directory: string): RunnerWorkspace & Disposable {
  const handle = openRoot(directory);
  return {
    root: '/workspace',
    access: 'read-write',
    files: createDiskFiles({ handle, names: [directory, '/workspace'] }),
    withSearchBox: () => Promise.reject(new Error('not here')),
    openSandbox: (wanted) =>
      bubblewrap.open({ directoryFd: handle, workspacePath: '/workspace', readable: [], ...wanted }),
    [Symbol.dispose]: () => closeSync(handle),
  };
}

/** Opens both halves of the ports with a link between them, on a new directory. */
export async function openFixture() {
  const fixture = makeDirectory();
  const directory = fixture.at('work');
  mkdirSync(directory);
  const offered = offerDirectory(directory);
  const offer: RunnerWorkspaces = { open: async () => offered, remove: async () => false };
  const [server, runner] = connectPeers();
  serveWorkspaces(runner, offer);
  const workspace = await createRemoteWorkspace(server, workspaceRequest);
  return {
    ...{ directory, offer, offered, server, runner, workspace },
    files: workspace.files,
    at: (name: string) => `${directory}/${name}`,
    async [Symbol.asyncDispose]() {
      server.close('the test is over');
      await runner.lost;
      offered[Symbol.dispose]();
      fixture[Symbol.dispose]();
    },
  };
}

export type PortsFixture = Awaited<ReturnType<typeof openFixture>>;

/** Opens a fixture that is closed when its test ends. */
export async function openTestFixture(): Promise<PortsFixture> {
  const fixture = await openFixture();
  onTestFinished(() => fixture[Symbol.asyncDispose]());
  return fixture;
}

/** A runner that answers what the test wants. Its opening succeeds unless the test says otherwise. */
export async function openLyingRunner(handlers: Readonly<Record<string, CallHandler>>) {
  const [server, runner] = connectPeers();
  onTestFinished(() => server.close('the test is over'));
  const has = { history: true, watch: true, transactions: true, checks: true, past: true };
  const open: CallHandler = async () => ({ place: 'p', root: '/workspaces/w', access: 'read-write', has });
  runner.serve({ 'workspace.open': open, ...handlers });
  return { ...(await createRemoteWorkspace(server, workspaceRequest)), runner };
}

/** A server that may call any method. */
export function asking(peer: Peer) {
  return (method: string, params: unknown) => peer.call(method, params, {}).answer;
}

/** Whether a program with this argument runs on this machine. */
export function isRunning(argument: string): boolean {
  return spawnSync('pgrep', ['-f', `^sleep ${argument}$`]).status === 0;
}
