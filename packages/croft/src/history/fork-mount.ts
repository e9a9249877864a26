import { closeSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '@croft/protocol';
import { openRoot } from '../disk/handles.ts';
import { removeTree } from '../lib/remove-tree.ts';
import type { ForkRecord } from './fork-records.ts';
import { prepareOverlay } from './layers.ts';
import { isMounted, mountsBelow } from './mount-points.ts';
import { mountOverlay, mountOverlayNow, unmount } from './mounting.ts';

const waitMs = 5;
const maxTries = 1000;

/** Makes sure that its files are seen where they are to be: after a start of the machine they are not. */
export function ensureMounted(place: string, record: ForkRecord): void {
  if (record.kind !== 'overlay' || isMounted(record.target)) return;
  alone(place, () => {
    if (isMounted(record.target)) return;
    using mount = openMount(place, record);
    mountOverlayNow(mount);
  });
}

/** What a fork shows where nothing was written in it. */
export type ForkLayers = Pick<ForkRecord, 'base' | 'steps'>;

export async function mountFork(place: string, fork: ForkLayers & { readonly target: string }): Promise<void> {
  using mount = openMount(place, fork);
  await mountOverlay(mount);
}

function openMount(place: string, { base, steps, target }: ForkLayers & { readonly target: string }) {
  const opened = new DisposableStack();
  const open = (path: string) => opened.adopt(openRoot(path), closeSync);
  try {
    const lowers = [...steps, base].map(open);
    if (!existsSync(join(place, 'upper'))) prepareOverlay(place, lowers.at(-1) as number);
    mkdirSync(target, { recursive: true, mode: 0o700 });
    return { lowers, place: open(place), target, isFleeting: false, [Symbol.dispose]: () => opened.dispose() };
  } catch (thrown) {
    opened.dispose();
    throw thrown;
  }
}

/** Never through a mount. */
export async function removePlace(place: string, target: string): Promise<void> {
  for (const point of [target, ...mountsBelow(place)]) await unmount(point);
  await removeTree(target);
  await removeTree(place);
}

/** Two servers that start at once must not both mount it: each would have files that the other does not see. */
function alone(place: string, work: () => void): void {
  const lock = join(place, 'mounting');
  for (let tries = 0; !take(lock); tries += 1) {
    if (tries > maxTries)
      throw new AppError('E_STORAGE_FAILED', 'another server does not get done with opening this workspace');
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
    const holder = existsSync(lock) ? readFileSync(lock, 'utf8') : '';
    if (holder !== '' && !existsSync(`/proc/${holder}`)) rmSync(lock, { force: true });
    return false;
  }
}
