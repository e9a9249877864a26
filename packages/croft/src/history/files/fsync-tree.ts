import { closeSync, constants, fsync, opendirSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { openRoot } from '../../disk/paths/handles.ts';
import { manyFsyncs, syncFileSystem } from './fsync-directories.ts';

const { O_NOFOLLOW, O_RDONLY } = constants;
const sync = promisify(fsync);

/**
 * Makes a directory durable, with its name and its content. Without it, a power cut may leave the name of a file and
 * none of its bytes.
 */
export async function fsyncTree(path: string): Promise<void> {
  const few = findFew(path);
  // Files that we may not read are synced with the whole file system.
  const isDone = few && (await Promise.allSettled([...few, path].map(fsyncPath))).every(isFulfilled);
  if (!isDone) await syncFileSystemOf(path);
  await fsyncPath(dirname(path));
}

export async function fsyncPath(path: string): Promise<void> {
  const fd = openSync(path, O_RDONLY | O_NOFOLLOW);
  try {
    await sync(fd);
  } finally {
    closeSync(fd);
  }
}

function isFulfilled({ status }: PromiseSettledResult<void>): boolean {
  return status === 'fulfilled';
}

/** Returns the paths to fsync, or `undefined` if there are many, or a name is not UTF-8. */
function findFew(path: string): string[] | undefined {
  const found: string[] = [];
  using directory = opendirSync(path, { recursive: true });
  for (let entry = directory.readSync(); entry; entry = directory.readSync()) {
    if (found.length === manyFsyncs || entry.name.includes('\ufffd')) return undefined;
    if (entry.isFile() || entry.isDirectory()) found.push(join(entry.parentPath, entry.name));
  }
  return found;
}

async function syncFileSystemOf(path: string): Promise<void> {
  const fd = openRoot(path);
  try {
    if (!(await syncFileSystem(fd))) throw new Error('this host has no way to sync a file system');
  } finally {
    closeSync(fd);
  }
}
