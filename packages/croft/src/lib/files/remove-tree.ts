import { closeSync, constants, lstatSync, opendirSync, openSync, renameSync, rmdirSync, unlinkSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { setImmediate as breathe } from 'node:timers/promises';

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
const sliceMs = 5;
/** Each level keeps a descriptor open. Deeper directories are first moved up to the top. */
const maxDepth = 200;
const maxTries = 10;

/**
 * Removes a directory with everything in it, if it exists. Programs of a sandbox may still change it while this process
 * runs as root. The walk uses open descriptors, so that a link put in the place of a directory is removed as a link and
 * never followed.
 */
export async function removeTree(directory: string): Promise<void> {
  const parent = openIfPresent(dirname(directory));
  if (parent === undefined) return;
  try {
    await createTreeRemover(parent).remove(Buffer.from(basename(directory)), parent, 0);
  } finally {
    closeSync(parent);
  }
}

function createTreeRemover(top: number) {
  let [since, moved] = [performance.now(), 0];

  async function remove(name: Buffer, parent: number, depth: number): Promise<void> {
    await takeTurns();
    const path = pathInDirectory(parent, name);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (!stats) return;
    if (!stats.isDirectory()) return unlessGone(() => unlinkSync(path));
    if (depth > maxDepth) return removeDeep(path);
    const handle = openIfPresent(path);
    if (handle === undefined) return remove(name, parent, depth);
    try {
      await empty(handle, path, depth);
    } finally {
      closeSync(handle);
    }
  }

  /** Also removes entries that are added meanwhile, up to `maxTries` rounds. */
  async function empty(handle: number, path: Buffer, depth: number): Promise<void> {
    for (let tries = 1; tries <= maxTries; tries++) {
      for (const each of namesIn(handle)) await remove(each, handle, depth + 1);
      if (isRemoved(path, tries === maxTries)) return;
    }
  }

  async function removeDeep(path: Buffer): Promise<void> {
    const name = Buffer.from(`.croft-removing-${process.pid}-${moved++}`);
    unlessGone(() => renameSync(path, pathInDirectory(top, name)));
    await remove(name, top, 0);
  }

  async function takeTurns(): Promise<void> {
    if (performance.now() - since < sliceMs) return;
    await breathe();
    since = performance.now();
  }

  return { remove };
}

function isRemoved(path: Buffer, isLast: boolean): boolean {
  try {
    unlessGone(() => rmdirSync(path));
    return true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOTEMPTY' && !isLast) return false;
    throw thrown;
  }
}

/** Returns `undefined` if the directory is missing or is no longer a directory. */
function openIfPresent(path: string | Buffer): number | undefined {
  return unlessGone(() => openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
}

function* namesIn(handle: number): Generator<Buffer> {
  using opened = opendirSync(`/proc/self/fd/${handle}`, { encoding: 'buffer' as BufferEncoding, bufferSize: 256 });
  for (let entry = opened.readSync(); entry; entry = opened.readSync()) yield Buffer.from(entry.name);
}

function pathInDirectory(directoryFd: number, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`/proc/self/fd/${directoryFd}/`), name]);
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
