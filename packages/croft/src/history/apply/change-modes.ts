import { chmodSync, closeSync, fchmodSync, fsync } from 'node:fs';
import { promisify } from 'node:util';
import { type DirectoryFds, nameOf, parentOf } from '../files/directory-fds.ts';
import { openLeaf } from '../files/read-leaf.ts';
import { changingLocked, forPath, type PlannedChange } from './plan-changes.ts';
import { mustBeUntouched } from './put-in-place.ts';

const sync = promisify(fsync);

/**
 * Changes modes, deepest paths first: a directory that loses access for us would keep us out of everything below it.
 */
export async function changeModes(order: readonly PlannedChange[], handles: DirectoryFds): Promise<void> {
  for (const change of order.toReversed()) await forPath(change.path, () => changeModeOf(change, handles));
}

async function changeModeOf(change: PlannedChange, handles: DirectoryFds): Promise<void> {
  const { before, after, raw } = change;
  if (after?.kind === 'directory') chmodSync(`/proc/self/fd/${handles.fdOf(raw)}`, after.mode & 0o777);
  if (after?.kind !== 'file' || before?.kind !== 'file' || before.hash !== after.hash) return;
  if (before.mode === after.mode) return;
  const fd = await changingLocked(change, handles, () => openWithMode(change, after.mode, handles));
  try {
    await sync(fd);
  } finally {
    closeSync(fd);
  }
}

function openWithMode(change: PlannedChange, mode: number, handles: DirectoryFds): number {
  mustBeUntouched(change, handles);
  const fd = openLeaf(handles.fdOf(parentOf(change.raw)), nameOf(change.raw));
  try {
    fchmodSync(fd, mode & 0o777);
    return fd;
  } catch (thrown) {
    closeSync(fd);
    throw thrown;
  }
}
