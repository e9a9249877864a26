import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { CurrentFile } from '../../src/core/files/files.ts';
import { createRemoteWorkspace } from '../../src/providers/index.ts';
import { serveWorkspaces } from '../../src/runner/serve-workspaces.ts';
import { runIn, shellIn, startIn, uniqueSeconds } from '../contracts/sandbox.ts';
import { startDialling, startLinkServer } from '../link/link-server.ts';
import { startFaultyCable } from '../support/faults/faulty-cable.ts';
import { makeDirectory } from '../support/harness.ts';
import { roomyLimits } from '../support/sandboxes/open-sandbox.ts';
import { isRunning, offerDirectory, workspaceRequest } from './ports-fixture.ts';

const wanted = { limits: roomyLimits, network: { mode: 'deny-all' } } as const;
const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** A runner over a real WebSocket, through a cable that is cut after a number of bytes, again and again, until `mend` is called. */
async function openThroughCable(everyBytes: number, graceMs = 60_000) {
  const fixture = makeDirectory();
  onTestFinished(() => fixture[Symbol.dispose]());
  mkdirSync(fixture.at('work'));
  const offered = offerDirectory(fixture.at('work'));
  onTestFinished(() => offered[Symbol.dispose]());
  const server = await startLinkServer({ graceMs });
  const cable = await startFaultyCable(server.url);
  onTestFinished(() => cable[Symbol.asyncDispose]());
  startDialling(cable.url, {
    onLink: (peer) => serveWorkspaces(peer, { open: async () => offered, remove: async () => false }),
  });
  await vi.waitFor(() => expect(server.links).toHaveLength(1));
  const workspace = await vi.waitFor(() => createRemoteWorkspace(server.links[0]!.link.peer, workspaceRequest));
  let isFaulty = true;
  const again = () => {
    if (isFaulty) cable.cutAfter(everyBytes);
  };
  server.links[0]?.link.onState((state) => state === 'online' && again());
  return {
    ...{ workspace, cable, server, again, at: (name: string) => fixture.at(`work/${name}`) },
    mend() {
      isFaulty = false;
    },
  };
}

test('a program gets and prints everything once, and runs once, however often the cable is cut', async () => {
  const { workspace, again, cable, at, mend } = await openThroughCable(300_000);
  const sandbox = await workspace.openSandbox(wanted);
  onTestFinished(() => sandbox.close());
  const bytes = randomBytes(3_000_000);
  const running = startIn(sandbox, ['sh', '-c', 'echo run >> runs; cat; exit 5'], { hasInput: true });
  again();
  running.stdin.end(bytes);
  const [echoed, exit] = await Promise.all([buffer(running.stdout), running.exit]);
  mend();
  expect(digest(echoed)).toBe(digest(bytes));
  expect(exit).toMatchObject({ code: 5 });
  expect(readFileSync(at('runs'), 'utf8')).toBe('run\n');
  expect(cable.count()).toBeGreaterThan(3);
});

test('uploads, writes and reads are complete, and no change is lost', async () => {
  const { workspace, again, at, mend, cable } = await openThroughCable(200_000);
  const { files } = workspace;
  const bytes = randomBytes(2_000_000);
  async function* pieces() {
    for (let start = 0; start < bytes.length; start += 100_000) yield bytes.subarray(start, start + 100_000);
  }
  const add = async (current: CurrentFile | undefined) => ({
    bytes: Buffer.from(String(Number((await current?.content()) ?? 0) + 1)),
  });
  again();
  const [uploaded] = await Promise.all([
    files.upload('up.bin', pieces(), { maxBytes: bytes.length }),
    files.write('whole.bin', bytes),
    ...Array.from({ length: 20 }, () => files.change('count', add)),
  ]);
  const read = await files.read('whole.bin');
  mend();
  expect(uploaded).toMatchObject({ size: bytes.length, isNew: true });
  expect(digest(readFileSync(at('up.bin')))).toBe(digest(bytes));
  expect(digest(read.bytes)).toBe(digest(bytes));
  expect(readFileSync(at('count'), 'utf8')).toBe('20');
  expect(cable.count()).toBeGreaterThan(3);
});

test('after the grace period everything in progress fails at once, and a started program ends', async () => {
  const { workspace, cable, server } = await openThroughCable(Number.POSITIVE_INFINITY, 200);
  const sandbox = await workspace.openSandbox(wanted);
  const seconds = uniqueSeconds();
  const running = startIn(sandbox, ['sh', '-c', `echo . > alive; exec sleep ${seconds}`]);
  await vi.waitFor(() => expect(isRunning(seconds)).toBe(true));
  const never = (async function* () {
    yield Buffer.from('half');
    await new Promise(() => {});
  })();
  const uploading = workspace.files.upload('half.bin', never, { maxBytes: 100 });
  const failing = [running.exit, uploading].map((work) =>
    expect(work).rejects.toMatchObject({ code: 'E_RUNNER_LOST' }),
  );
  await cable.refuse();
  await Promise.all(failing);
  await sandbox.closed;
  await expect(workspace.files.stat('alive')).rejects.toMatchObject({ code: 'E_RUNNER_LOST' });
  // The runner knows it too: what it was running has stopped, and nothing is left of what was half sent.
  await vi.waitFor(() => expect(isRunning(seconds)).toBe(false));
  await cable.accept();
  await vi.waitFor(() => expect(server.links).toHaveLength(2));
  const next = await createRemoteWorkspace(server.links[1]!.link.peer, workspaceRequest);
  const names = (await next.files.list('', { limit: 10 })).entries.map(({ name }) => name);
  expect(names).toEqual(['alive']);
  const again = await next.openSandbox(wanted);
  expect((await shellIn(again, 'ls')).stdout).toBe('alive\n');
  await again.close();
});

test('a cable that splits everything into small pieces delivers all of it', async () => {
  const { workspace, cable } = await openThroughCable(Number.POSITIVE_INFINITY);
  cable.split(7);
  const sandbox = await workspace.openSandbox(wanted);
  expect(await runIn(sandbox, ['seq', '2000'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/\n2000\n$/) });
  await sandbox.close();
});
