import { spawn } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { DiskFilesOptions } from '../../src/disk/disk-files.ts';
import { escapes } from '../../src/escapes/index.ts';
import { attemptAll, type EscapeReport } from '../../src/escapes/run-escapes.ts';
import { makeDirectory } from '../support/harness.ts';
import { createNaiveFiles } from '../support/sandboxes/naive-files.ts';
import { type LinkEndpoint, startLinkEndpoint } from './link-endpoint.ts';
import { makeNetwork, type OwnNetwork, whyNoNetwork } from './own-network.ts';
import { startRemoteApps } from './remote-app.ts';
import { serveApps } from './wire-app.ts';

/**
 * Every attempt to get out, made by an agent of a server whose workspaces are on a runner. It is the same list, because
 * it has to be the same fence; a canary beside the workspace is on the machine of the runner, which is this one.
 */

const tenMinutes = 600_000;
/** A flood of a quarter of a gigabyte crosses the wire, and both of its ends may be in this process. */
const deadlineMs = 240_000;

/** Attacks that cannot be attempted on a runner. */
const elsewhere: Readonly<Record<string, string>> = {
  B42: 'no server says where a runner shows a workspace, so that none can ask for a place where there can be none',
};
const attempted = escapes.filter(({ id }) => !(id in elsewhere));

type Attempt = () => Promise<readonly EscapeReport[]>;

function describeEscapes(attempt: Attempt): void {
  let reports: ReadonlyMap<string, EscapeReport>;
  beforeAll(async () => {
    reports = new Map((await attempt()).map((report) => [report.id, report]));
  }, tenMinutes);

  test.each(attempted)('$id $title', ({ id }) => {
    const { outcome } = reports.get(id) as EscapeReport;
    if (!('skipped' in outcome)) expect(outcome).toEqual({ held: true });
  });

  test('an attack is skipped on a runner only if it is skipped without one', { timeout: tenMinutes }, async () => {
    const skipped = [...reports.values()].flatMap(({ id, outcome }) => ('skipped' in outcome ? [id] : []));
    const here = await attemptAll(
      escapes.filter(({ id }) => skipped.includes(id)),
      { deadlineMs },
    );
    expect(here.filter(({ outcome }) => !('skipped' in outcome)).map(({ id }) => id)).toEqual([]);
  });
}

describe('from a workspace on a runner on loopback', () => {
  describeEscapes(async () => {
    await using apps = await startRemoteApps();
    return await attemptAll(attempted, { openApp: apps.openApp, deadlineMs });
  });
});

const why = await whyNoNetwork();

describe.skipIf(why !== undefined)(
  `from a workspace on a runner in a network of its own${why === undefined ? '' : ` (${why})`}`,
  () => {
    describeEscapes(async () => {
      using network = makeNetwork();
      await using door = await startLinkEndpoint({ host: network.address, allowsInsecure: true });
      using nothing = makeDirectory();
      return await attemptIn(network, { door, nothing: nothing.path });
    });
  },
);

interface There {
  readonly reports: readonly EscapeReport[];
  readonly network: string;
}

/** Where the runner is, there is whatever it must not reach: attempts are made by another process, in that network. */
async function attemptIn(
  { enter: [program, net] }: OwnNetwork,
  { door, nothing }: { door: LinkEndpoint; nothing: string },
) {
  const main = join(import.meta.dirname, 'escapes-in-network.ts');
  const args = [net, process.execPath, main, String(deadlineMs), ...Object.keys(elsewhere)];
  const child = spawn(program, args, {
    cwd: tmpdir(),
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
  });
  const { promise, resolve, reject } = Promise.withResolvers<There>();
  child.on('message', (message: Partial<There>) => 'reports' in message && resolve(message as There));
  child.once('exit', (code, signal) => reject(new Error(`the attempts ended with ${signal ?? code}`)));
  serveApps(child, door, nothing);
  try {
    const { reports, network } = await promise;
    expect(network).not.toBe(readlinkSync('/proc/self/ns/net'));
    return reports;
  } finally {
    child.kill('SIGKILL');
  }
}

test('without the path check of the runner the attacks get out over the link', { timeout: tenMinutes }, async () => {
  vi.resetModules();
  vi.doMock('../../src/disk/disk-files.ts', async (original) => {
    const { createDiskFiles } = await original<typeof import('../../src/disk/disk-files.ts')>();
    const isOfRunner = ({ names }: DiskFilesOptions) => names.includes('/workspaces/workspace');
    return {
      createDiskFiles: (given: DiskFilesOptions) => (isOfRunner(given) ? createNaiveFiles : createDiskFiles)(given),
    };
  });
  try {
    const remote = await import('./remote-app.ts');
    const { runEscapes } = await import('../../src/escapes/run-escapes.ts');
    await using apps = await remote.startRemoteApps();
    const only = ['A1', 'A4', 'A9', 'A21'];
    const out = (await runEscapes({ only, openApp: apps.openApp })).map(({ id, outcome }) => [id, outcome]);
    expect(out).toEqual(
      only.map((id) => [id, { held: false, how: expect.stringContaining('the canary is not as it was') }]),
    );
  } finally {
    vi.doUnmock('../../src/disk/disk-files.ts');
    vi.resetModules();
  }
});
