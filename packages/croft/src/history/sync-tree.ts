import { closeSync, constants, fsync, opendirSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { openRoot } from '../disk/handles.ts';
import { manySyncs, syncFileSystem } from './sync-all.ts';

const { O_NOFOLLOW, O_RDONLY } = constants;
const sync = promisify(fsync);

/**
 * Makes a directory of ours durable, its name and all that is in it: of a file that was only written, a power cut may leave
 * the name and none of the bytes.
 */
export async function syncTree(path: string): Promise<void> {
  const few = findFew(path);
  // What we may not read ourselves is synced with everything else.
  const isDone = few && (await Promise.allSettled([...few, path].map(syncPath))).every(isFulfilled);
  if (!isDone) await syncAllOf(path);
  await syncPath(dirname(path));
}

export async function syncPath(path: string): Promise<void> {
  const handle = openSync(path, O_RDONLY | O_NOFOLLOW);
  try {
    await sync(handle);
  } finally {
    closeSync(handle);
  }
}

function isFulfilled({ status }: PromiseSettledResult<void>): boolean {
  return status === 'fulfilled';
}

/** What there is to sync below it, unless that is much, or has names that cannot be said. */
function findFew(path: string): string[] | undefined {
  const found: string[] = [];
  using directory = opendirSync(path, { recursive: true });
  for (let entry = directory.readSync(); entry; entry = directory.readSync()) {
    if (found.length === manySyncs || entry.name.includes('\ufffd')) return undefined;
    if (entry.isFile() || entry.isDirectory()) found.push(join(entry.parentPath, entry.name));
  }
  return found;
}

async function syncAllOf(path: string): Promise<void> {
  const handle = openRoot(path);
  try {
    if (!(await syncFileSystem(handle))) throw new Error('this host has no way to sync a file system');
  } finally {
    closeSync(handle);
  }
}
