import { once } from 'node:events';
import { closeSync, fsync } from 'node:fs';
import { promisify } from 'node:util';
import type { RawName } from '../core/history/raw-names.ts';
import { errnoOf } from '../disk/errors.ts';
import { reopenDirectory } from '../disk/handles.ts';
import { findProgram } from '../lib/find-program.ts';
import { spawnProgram } from '../lib/spawn.ts';
import type { PathHandles } from './path-handles.ts';

/** From here on everything at once takes less than one after the other. */
export const manySyncs = 64;
const syncsAtOnce = 16;
const sync = promisify(fsync);

/** Makes everything durable that was written to the file system of an open directory. False if this host has no way. */
export async function syncFileSystem(directory: number): Promise<boolean> {
  const program = findProgram('sync');
  if (program === undefined) return false;
  const place = `/proc/${process.pid}/fd/${directory}`;
  const child = spawnProgram([program, '-f', place], { env: {}, stdio: ['ignore', 'ignore', 'ignore'] });
  try {
    const [code] = await once(child, 'exit');
    return code === 0;
  } catch {
    return false;
  }
}

/** Makes the names in directories durable, a batch at a time: each holds a handle. */
export async function syncDirectories(
  directories: ReadonlySet<RawName>,
  handles: PathHandles,
  root: number,
): Promise<void> {
  if (directories.size >= manySyncs && (await syncFileSystem(root))) return;
  const paths = [...directories];
  for (let at = 0; at < paths.length; at += syncsAtOnce) {
    await Promise.all(paths.slice(at, at + syncsAtOnce).map((path) => syncDirectory(path, handles)));
  }
}

async function syncDirectory(path: RawName, handles: PathHandles): Promise<void> {
  const handle = openIfThere(path, handles);
  if (handle === undefined) return;
  try {
    await sync(handle);
  } finally {
    closeSync(handle);
  }
}

/** One that somebody took away meanwhile has no names to lose. */
function openIfThere(path: RawName, handles: PathHandles): number | undefined {
  try {
    return reopenDirectory(handles.handleOf(path));
  } catch (thrown) {
    if (['ENOENT', 'ENOTDIR'].includes(errnoOf(thrown) ?? '')) return undefined;
    throw thrown;
  }
}
