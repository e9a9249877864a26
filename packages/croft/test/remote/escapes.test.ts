import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { DiskFilesOptions } from '../../src/disk/files.ts';
import { escapes } from '../../src/escapes/index.ts';
import { attemptAll, type EscapeReport } from '../../src/escapes/run.ts';
import { createNaiveFiles } from '../naive-files.ts';
import { startRemoteApps } from './remote-app.ts';

/**
 * Every attempt to get out, made by an agent of a server whose workspaces are on a runner. It is the same list, because
 * it has to be the same fence; a canary beside the workspace is on the machine of the runner, which is this one.
 */

const tenMinutes = 600_000;
/** A flood of half a gigabyte crosses the wire, and both of its ends are in this process. */
const deadlineMs = 240_000;

/** What cannot be attempted so. */
const elsewhere: Readonly<Record<string, string>> = {
  B42: 'no server says where a runner shows a workspace, so that none can ask for a place where there can be none',
};
const attempted = escapes.filter(({ id }) => !(id in elsewhere));

describe('from a workspace on a runner', () => {
  let apps: Awaited<ReturnType<typeof startRemoteApps>>;
  let reports: ReadonlyMap<string, EscapeReport>;
  beforeAll(async () => {
    apps = await startRemoteApps();
    const all = await attemptAll(attempted, { openApp: apps.openApp, deadlineMs });
    reports = new Map(all.map((report) => [report.id, report]));
  }, tenMinutes);
  afterAll(() => apps[Symbol.asyncDispose]());

  test.each(attempted)('$id $title', ({ id }) => {
    const { outcome } = reports.get(id) as EscapeReport;
    if (!('skipped' in outcome)) expect(outcome).toEqual({ held: true });
  });

  test('none is skipped that can be attempted without one', async () => {
    const skipped = [...reports.values()].flatMap(({ id, outcome }) => ('skipped' in outcome ? [id] : []));
    const here = await attemptAll(
      escapes.filter(({ id }) => skipped.includes(id)),
      { deadlineMs },
    );
    expect(here.filter(({ outcome }) => !('skipped' in outcome)).map(({ id }) => id)).toEqual([]);
  });
});

test('where the runner takes a path as it comes, they get out through the wire', { timeout: tenMinutes }, async () => {
  vi.resetModules();
  vi.doMock('../../src/disk/files.ts', async (original) => {
    const { createDiskFiles } = await original<typeof import('../../src/disk/files.ts')>();
    const isOfRunner = ({ names }: DiskFilesOptions) => names.includes('/workspaces/workspace');
    return {
      createDiskFiles: (given: DiskFilesOptions) => (isOfRunner(given) ? createNaiveFiles : createDiskFiles)(given),
    };
  });
  try {
    const remote = await import('./remote-app.ts');
    const { runEscapes } = await import('../../src/escapes/run.ts');
    await using apps = await remote.startRemoteApps();
    const only = ['A1', 'A4', 'A9', 'A21'];
    const out = (await runEscapes({ only, openApp: apps.openApp })).map(({ id, outcome }) => [id, outcome]);
    expect(out).toEqual(
      only.map((id) => [id, { held: false, how: expect.stringContaining('the canary is not as it was') }]),
    );
  } finally {
    vi.doUnmock('../../src/disk/files.ts');
    vi.resetModules();
  }
});
