import { once } from 'node:events';
import { closeSync, fsync } from 'node:fs';
import { promisify } from 'node:util';
import type { RawName } from '../../core/history/trees/raw-names.ts';
import { errnoOf } from '../../disk/paths/file-errors.ts';
import { reopenDirectory } from '../../disk/paths/handles.ts';
import { findProgram } from '../../lib/processes/find-program.ts';
import { spawnProgram } from '../../lib/processes/spawn.ts';
import type { DirectoryFds } from './directory-fds.ts';

/** For this many directories or more, one sync of the file system is faster than one fsync each. */
export const manyFsyncs = 64;
const syncsAtOnce = 16;
const sync = promisify(fsync);

/**
 * Makes everything durable that was written to the file system of an open directory. Returns false if this host has no
 * `sync` program, or it fails.
 */
export async function syncFileSystem(directoryFd: number): Promise<boolean> {
  const program = findProgram('sync');
  if (program === undefined) return false;
  const fdPath = `/proc/${process.pid}/fd/${directoryFd}`;
  const child = spawnProgram([program, '-f', fdPath], { env: {}, stdio: ['ignore', 'ignore', 'ignore'] });
  try {
    const [code] = await once(child, 'exit');
    return code === 0;
  } catch {
    return false;
  }
}

/** Makes the names in directories durable, in batches: each directory takes a descriptor. */
export async function fsyncDirectories(
  directories: ReadonlySet<RawName>,
  handles: DirectoryFds,
  rootFd: number,
): Promise<void> {
  if (directories.size >= manyFsyncs && (await syncFileSystem(rootFd))) return;
  const paths = [...directories];
  for (let at = 0; at < paths.length; at += syncsAtOnce) {
    await Promise.all(paths.slice(at, at + syncsAtOnce).map((path) => fsyncDirectory(path, handles)));
  }
}

async function fsyncDirectory(path: RawName, handles: DirectoryFds): Promise<void> {
  const fd = openUnlessGone(path, handles);
  if (fd === undefined) return;
  try {
    await sync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Returns `undefined` for a directory that was removed meanwhile: it has no names to lose. */
function openUnlessGone(path: RawName, handles: DirectoryFds): number | undefined {
  try {
    return reopenDirectory(handles.fdOf(path));
  } catch (thrown) {
    if (['ENOENT', 'ENOTDIR'].includes(errnoOf(thrown) ?? '')) return undefined;
    throw thrown;
  }
}
