import { chmodSync, closeSync, fchmodSync, fsync } from 'node:fs';
import { promisify } from 'node:util';
import type { RawName } from '../core/history/raw-names.ts';
import { mustBeUntouched } from './apply-place.ts';
import { forPath, type PlannedChange } from './apply-plan.ts';
import { nameOf, type PathHandles, parentOf } from './path-handles.ts';
import { openLeaf } from './read-leaf.ts';

const sync = promisify(fsync);

/** Directories last, and the deepest first: one that is closed to us lets nobody in any more. */
export async function changeModes(order: readonly PlannedChange[], handles: PathHandles): Promise<void> {
  for (const change of order.toReversed()) await forPath(change.path, () => changeModeOf(change, handles));
}

async function changeModeOf(change: PlannedChange, handles: PathHandles): Promise<void> {
  const { before, after, raw } = change;
  if (after?.kind === 'directory') chmodSync(`/proc/self/fd/${handles.handleOf(raw)}`, after.mode & 0o777);
  if (after?.kind !== 'file' || before?.kind !== 'file' || before.hash !== after.hash) return;
  if (before.mode === after.mode) return;
  mustBeUntouched(change, handles);
  await changeMode(raw, after.mode, handles);
}

async function changeMode(path: RawName, mode: number, handles: PathHandles): Promise<void> {
  const handle = openLeaf(handles.handleOf(parentOf(path)), nameOf(path));
  try {
    fchmodSync(handle, mode & 0o777);
    await sync(handle);
  } finally {
    closeSync(handle);
  }
}
