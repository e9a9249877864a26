import { closeSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '@croft/protocol';
import type { TreePath } from '../core/history/tree.ts';
import { openRoot } from '../disk/handles.ts';
import { removeTree } from '../lib/remove-tree.ts';
import type { ForkRecord } from './fork-records.ts';
import { prepareOverlay } from './layers.ts';
import { isMounted, mountOverlayNow, mountsBelow, unmount } from './mounting.ts';
import { seedUpper } from './seed-upper.ts';

const waitMs = 5;
const maxTries = 1000;

/** Makes sure that its files are seen where they are to be: after a start of the machine they are not. */
export function ensureMounted(place: string, record: ForkRecord): void {
  if (record.kind !== 'overlay' || isMounted(record.target)) return;
  alone(place, () => {
    if (!isMounted(record.target)) mountFork(place, record);
  });
}

/** Before it is mounted. Answers what is left to do when it is. */
export async function seedFork(
  place: string,
  base: string,
  { live, paths }: { readonly live: number; readonly paths: readonly TreePath[] },
): Promise<TreePath[]> {
  const lower = openRoot(base);
  try {
    prepareOverlay(place, lower);
    return await seedUpper({ upper: join(place, 'upper'), live, base: lower }, paths);
  } finally {
    closeSync(lower);
  }
}

export function mountFork(place: string, { base, target }: Pick<ForkRecord, 'base' | 'target'>): void {
  const lower = openRoot(base);
  try {
    if (!existsSync(join(place, 'upper'))) prepareOverlay(place, lower);
    mkdirSync(target, { recursive: true, mode: 0o700 });
    const handle = openRoot(place);
    try {
      mountOverlayNow({ lower, place: handle, target, isFleeting: false });
    } finally {
      closeSync(handle);
    }
  } finally {
    closeSync(lower);
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
