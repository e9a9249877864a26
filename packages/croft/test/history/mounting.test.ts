import { spawnSync } from 'node:child_process';
import { closeSync, fstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openRoot } from '../../src/disk/handles.ts';
import * as natively from '../../src/history/mount-natively.ts';
import { isMounted } from '../../src/history/mount-points.ts';
import { mountOverlay, mountOverlayNow, unmount, unmountIfUnused } from '../../src/history/mounting.ts';
import { initBinary } from '../../src/init/binary.ts';
import { makeDirectory } from '../harness.ts';
import { text } from './forks-ground.ts';
import { canOverlay } from './layers-ground.ts';

vi.mock('../../src/history/mount-natively.ts', { spy: true });
afterEach(() => void vi.resetAllMocks());

/** Two layers below, with a name that a list of options could be cut at. */
function mountGround() {
  const ground = makeDirectory({ 'lo,w:er\\ 1/a': 'newer', 'lower 2/a': 'older', 'lower 2/b': 'b', 'pl,ace/x': '' });
  for (const name of ['pl,ace/upper', 'pl,ace/work', 'seen here']) mkdirSync(ground.at(name));
  onTestFinished(() => ground[Symbol.dispose]());
  const open = (name: string) => {
    const handle = openRoot(ground.at(name));
    onTestFinished(() => closeSync(handle));
    return handle;
  };
  const lowers = [open('lo,w:er\\ 1'), open('lower 2')];
  return { ground, mount: { lowers, place: open('pl,ace'), target: ground.at('seen here'), isFleeting: false } };
}

describe.runIf(canOverlay)('an overlay', () => {
  test.each(['natively', 'by a program', 'at once'] as const)('is mounted and unmounted %s', async (way) => {
    const { ground, mount } = mountGround();
    if (way === 'by a program') {
      vi.mocked(natively.mountNatively).mockResolvedValue(false);
      vi.mocked(natively.unmountNatively).mockResolvedValue(false);
    }
    if (way === 'at once') mountOverlayNow(mount);
    else await mountOverlay(mount);
    expect(isMounted(mount.target)).toBe(true);
    expect([text(join(mount.target, 'a')), text(join(mount.target, 'b'))]).toEqual(['newer', 'b']);
    writeFileSync(join(mount.target, 'b'), 'written');
    expect([text(ground.at('pl,ace/upper/b')), text(ground.at('lower 2/b'))]).toEqual(['written', 'b']);
    const user = openRoot(mount.target);
    expect(await unmountIfUnused(mount.target), 'somebody has it open').toBe(false);
    await unmount(mount.target);
    expect(isMounted(mount.target)).toBe(false);
    closeSync(user);
    const [answer] = vi.mocked(natively.mountNatively).mock.settledResults;
    expect(answer?.value).toBe(way === 'at once' ? undefined : way === 'natively');
  });

  test('that the kernel refuses is an error in its words, and nobody tries again', async () => {
    const { ground, mount } = mountGround();
    await expect(mountOverlay({ ...mount, target: ground.at('nowhere') })).rejects.toThrow('No such file or directory');
    await expect(mountOverlay({ ...mount, target: ground.at('lower 2/b') })).rejects.toThrow('Not a directory');
    expect(isMounted(mount.target)).toBe(false);
  });

  test('is of the very directories that are open here, or of none', () => {
    const { mount } = mountGround();
    const [lower = 0] = mount.lowers;
    const { dev, ino } = fstatSync(mount.place);
    const at = '/proc/self/fd/1';
    const options = `lowerdir=${at}1,upperdir=${at}0/upper,workdir=${at}0/work`;
    const run = (handles: string[]) => {
      const args = ['--mount', String(process.pid), mount.target, options, ...handles];
      const { status, stderr } = spawnSync(initBinary, args, { encoding: 'utf8' });
      return { status, stderr, mounted: isMounted(mount.target) };
    };
    const stale = { status: 1, stderr: 'Stale file handle\n', mounted: false };
    expect(run([`${mount.place}:${dev}:${ino}`, `${lower}:${dev}:${ino}`])).toEqual(stale);
    expect(run([`${mount.place}:${dev}:${ino}`, String(lower)])).toMatchObject({ status: 1, mounted: false });
    expect(run(['1000000:1:1'])).toMatchObject({ status: 1, mounted: false });
  });
});
