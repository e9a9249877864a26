import { closeSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openRoot } from '../../src/disk/paths/handles.ts';
import * as natively from '../../src/history/overlay/mount-natively.ts';
import { mountOverlay, mountOverlayNow, unmount, unmountIfUnused } from '../../src/history/overlay/mount-overlay.ts';
import { isMounted } from '../../src/history/overlay/mount-points.ts';
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
      'no such file or directory',
    );
    await expect(mountOverlay({ ...mount, target: fixture.at('lower 2/b') })).rejects.toThrow('not a directory');
    expect(isMounted(mount.target)).toBe(false);
  });
});
