import { closeSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '@croft/protocol';
import { openRoot } from '../../disk/paths/handles.ts';
import { removeTree } from '../../lib/files/remove-tree.ts';
import { prepareOverlay } from '../overlay/layers.ts';
import { mountOverlay, mountOverlayNow, unmount } from '../overlay/mount-overlay.ts';
import { isMounted, mountsBelow } from '../overlay/mount-points.ts';
import type { ForkRecord } from './fork-records.ts';

const waitMs = 5;
const maxTries = 1000;

/** Mounts the fork if it is not mounted, for example after a restart of the machine. */
export function ensureMounted(forkDirectory: string, record: ForkRecord): void {
  if (record.kind !== 'overlay' || isMounted(record.target)) return;
  alone(forkDirectory, () => {
    if (isMounted(record.target)) return;
    using mount = openMount(forkDirectory, record);
    mountOverlayNow(mount);
  });
}

/** The layers that a fork shows where nothing was written. */
type ForkLayers = Pick<ForkRecord, 'base' | 'steps'>;

export async function mountFork(forkDirectory: string, fork: ForkLayers & { readonly target: string }): Promise<void> {
  using mount = openMount(forkDirectory, fork);
  await mountOverlay(mount);
}

function openMount(forkDirectory: string, { base, steps, target }: ForkLayers & { readonly target: string }) {
  const opened = new DisposableStack();
  const open = (path: string) => opened.adopt(openRoot(path), closeSync);
  try {
    const lowers = [...steps, base].map(open);
    if (!existsSync(join(forkDirectory, 'upper'))) prepareOverlay(forkDirectory, lowers.at(-1) as number);
    mkdirSync(target, { recursive: true, mode: 0o700 });
    return {
      lowers,
      layerFd: open(forkDirectory),
      target,
      isVolatile: false,
      [Symbol.dispose]: () => opened.dispose(),
    };
  } catch (thrown) {
    opened.dispose();
    throw thrown;
  }
}

/** Deletes a fork. Unmounts first, so that nothing is deleted through a mount. */
export async function removeForkDirectory(forkDirectory: string, target: string): Promise<void> {
  for (const point of [target, ...mountsBelow(forkDirectory)]) await unmount(point);
  await removeTree(target);
  await removeTree(forkDirectory);
}

/**
 * Runs `work` under a lock file. If two servers mounted the same fork, each would have files that the other does not
 * see.
 */
function alone(forkDirectory: string, work: () => void): void {
  const lock = join(forkDirectory, 'mounting');
  for (let tries = 0; !take(lock); tries += 1) {
    if (tries > maxTries)
      throw new AppError('E_STORAGE_FAILED', 'another server has not finished opening this fork', {
        hint: 'Nothing was done. Make the call again in a minute; if the error persists, tell the operator.',
      });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitMs);
  }
  try {
    work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function take(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    const lockedBy = existsSync(lock) ? readFileSync(lock, 'utf8') : '';
    if (lockedBy !== '' && !existsSync(`/proc/${lockedBy}`)) rmSync(lock, { force: true });
    return false;
  }
}
