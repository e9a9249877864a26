import { closeSync, constants, lstatSync, opendirSync, openSync, renameSync, rmdirSync, unlinkSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { setImmediate as breathe } from 'node:timers/promises';

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
const sliceMs = 5;
/** Each level holds a handle: what is deeper comes up first. */
const maxDepth = 200;
const maxTries = 10;

/**
 * A directory with everything in it, if there is one. Programs of a sandbox may still be at work in it, as root is here:
 * it is gone through by open handles, so that a link put in the place of a directory is a link, wherever it leads.
 */
export async function removeTree(directory: string): Promise<void> {
  const parent = openIfThere(dirname(directory));
  if (parent === undefined) return;
  try {
    await createRemoving(parent).remove(Buffer.from(basename(directory)), parent, 0);
  } finally {
    closeSync(parent);
  }
}

function createRemoving(top: number) {
  let [since, moved] = [performance.now(), 0];

  async function remove(name: Buffer, parent: number, depth: number): Promise<void> {
    await takeTurns();
    const place = at(parent, name);
    const stats = lstatSync(place, { throwIfNoEntry: false });
    if (!stats) return;
    if (!stats.isDirectory()) return unlessGone(() => unlinkSync(place));
    if (depth > maxDepth) return removeDeep(place);
    const handle = openIfThere(place);
    if (handle === undefined) return remove(name, parent, depth);
    try {
      await empty(handle, place, depth);
    } finally {
      closeSync(handle);
    }
  }

  /** What is put there meanwhile goes too, unless somebody never ends. */
  async function empty(handle: number, place: Buffer, depth: number): Promise<void> {
    for (let tries = 1; tries <= maxTries; tries++) {
      for (const each of namesIn(handle)) await remove(each, handle, depth + 1);
      if (isRemoved(place, tries === maxTries)) return;
    }
  }

  async function removeDeep(place: Buffer): Promise<void> {
    const name = Buffer.from(`.croft-removing-${process.pid}-${moved++}`);
    unlessGone(() => renameSync(place, at(top, name)));
    await remove(name, top, 0);
  }

  async function takeTurns(): Promise<void> {
    if (performance.now() - since < sliceMs) return;
    await breathe();
    since = performance.now();
  }

  return { remove };
}

function isRemoved(place: Buffer, isLast: boolean): boolean {
  try {
    unlessGone(() => rmdirSync(place));
    return true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOTEMPTY' && !isLast) return false;
    throw thrown;
  }
}

/** `undefined` for what is not there, or no directory any more. */
function openIfThere(place: string | Buffer): number | undefined {
  return unlessGone(() => openSync(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
}

function* namesIn(handle: number): Generator<Buffer> {
  using opened = opendirSync(`/proc/self/fd/${handle}`, { encoding: 'buffer' as BufferEncoding, bufferSize: 256 });
  for (let entry = opened.readSync(); entry; entry = opened.readSync()) yield Buffer.from(entry.name);
}

function at(directory: number, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`/proc/self/fd/${directory}/`), name]);
}

function unlessGone<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return undefined;
    throw thrown;
  }
}
