import { spawnSync } from 'node:child_process';
import { closeSync, fstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openRoot } from '../../src/disk/paths/handles.ts';
import * as natively from '../../src/history/overlay/mount-natively.ts';
import { mountOverlay, mountOverlayNow, unmount, unmountIfUnused } from '../../src/history/overlay/mount-overlay.ts';
import { isMounted } from '../../src/history/overlay/mount-points.ts';
import { findInit } from '../../src/init/find-init.ts';
import { makeDirectory } from '../support/harness.ts';
import { text } from './forks-fixture.ts';
import { canOverlay } from './layers-fixture.ts';

vi.mock('../../src/history/overlay/mount-natively.ts', { spy: true });
afterEach(() => void vi.resetAllMocks());

/** Two layers below, with a name that a list of options could be cut at. */
function mountFixture() {
  const fixture = makeDirectory({ 'lo,w:er\\ 1/a': 'newer', 'lower 2/a': 'older', 'lower 2/b': 'b', 'pl,ace/x': '' });
  for (const name of ['pl,ace/upper', 'pl,ace/work', 'seen here']) mkdirSync(fixture.at(name));
  onTestFinished(() => fixture[Symbol.dispose]());
  const open = (name: string) => {
    const handle = openRoot(fixture.at(name));
    onTestFinished(() => closeSync(handle));
    return handle;
  };
  const lowers = [open('lo,w:er\\ 1'), open('lower 2')];
  return { fixture, mount: { lowers, layerFd: open('pl,ace'), target: fixture.at('seen here'), isVolatile: false } };
}

describe.runIf(canOverlay)('an overlay', () => {
  test.each(['natively', 'by a program', 'at once'] as const)('is mounted and unmounted %s', async (way) => {
    const { fixture, mount } = mountFixture();
    if (way === 'by a program') {
      vi.mocked(natively.mountNatively).mockResolvedValue(false);
      vi.mocked(natively.unmountNatively).mockResolvedValue(false);
    }
    if (way === 'at once') mountOverlayNow(mount);
    else await mountOverlay(mount);
    expect(isMounted(mount.target)).toBe(true);
    expect([text(join(mount.target, 'a')), text(join(mount.target, 'b'))]).toEqual(['newer', 'b']);
    writeFileSync(join(mount.target, 'b'), 'written');
    expect([text(fixture.at('pl,ace/upper/b')), text(fixture.at('lower 2/b'))]).toEqual(['written', 'b']);
    const user = openRoot(mount.target);
    expect(await unmountIfUnused(mount.target), 'somebody has it open').toBe(false);
    await unmount(mount.target);
    expect(isMounted(mount.target)).toBe(false);
    closeSync(user);
    const [answer] = vi.mocked(natively.mountNatively).mock.settledResults;
    expect(answer?.value).toBe(way === 'at once' ? undefined : way === 'natively');
  });

  test('that the kernel refuses fails with the kernel’s error, without another attempt', async () => {
    const { fixture, mount } = mountFixture();
    await expect(mountOverlay({ ...mount, target: fixture.at('nowhere') })).rejects.toThrow(
      'No such file or directory',
    );
    await expect(mountOverlay({ ...mount, target: fixture.at('lower 2/b') })).rejects.toThrow('Not a directory');
    expect(isMounted(mount.target)).toBe(false);
  });

  test('uses exactly the open directories, or fails', () => {
    const { mount } = mountFixture();
    const [lower = 0] = mount.lowers;
    const { dev, ino } = fstatSync(mount.layerFd);
    const at = '/proc/self/fd/1';
    const options = `lowerdir=${at}1,upperdir=${at}0/upper,workdir=${at}0/work`;
    const run = (handles: string[]) => {
      const args = ['--mount', String(process.pid), mount.target, options, ...handles];
      const { status, stderr } = spawnSync(findInit(), args, { encoding: 'utf8' });
      return { status, stderr, mounted: isMounted(mount.target) };
    };
    const stale = { status: 1, stderr: 'Stale file handle\n', mounted: false };
    expect(run([`${mount.layerFd}:${dev}:${ino}`, `${lower}:${dev}:${ino}`])).toEqual(stale);
    expect(run([`${mount.layerFd}:${dev}:${ino}`, String(lower)])).toMatchObject({ status: 1, mounted: false });
    expect(run(['1000000:1:1'])).toMatchObject({ status: 1, mounted: false });
  });
});
