import { readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { fromRaw, type RawName } from '../../core/history/trees/raw-names.ts';
import { errnoOf } from '../../disk/paths/file-errors.ts';
import { type DirectoryFds, depthOf, nameOf, parentOf } from '../files/directory-fds.ts';
import { entryPathOf } from '../files/read-leaf.ts';
import { type ApplyPlan, changedBySomebodyElse, changingLocked, forPath, type PlannedChange } from './plan-changes.ts';
import { mustBeRemovedFirst, mustBeUntouched, type PlacementState } from './put-in-place.ts';

/** Removes the deepest paths first, so that directories are empty when their turn comes. */
export async function removePlanned(plan: ApplyPlan, placing: PlacementState): Promise<void> {
  const gone = [...plan.values()].filter(({ before, after }) => before && mustBeRemovedFirst(before.kind, after?.kind));
  for (const change of gone.sort((one, other) => depthOf(other.raw) - depthOf(one.raw)))
    await changingLocked(change, placing.handles, () => removeOne(change, placing));
  placing.handles.forget();
}

function removeOne(change: PlannedChange, { handles, touched }: PlacementState): void {
  mustBeUntouched(change, handles);
  const parent = parentOf(change.raw);
  const entryPath = entryPathOf(handles.fdOf(parent), nameOf(change.raw));
  if (change.before?.kind === 'directory') removeEmptied(change.raw, handles);
  else unlinkSync(entryPath);
  touched.add(parent);
}

/** Removes a directory that a file replaces, with the empty directories in it that no change names. */
function removeEmptied(path: RawName, handles: DirectoryFds): void {
  const names = readdirSync(`/proc/self/fd/${handles.fdOf(path)}`, { encoding: 'latin1' });
  try {
    for (const name of names) removeEmptied(`${path}/${name}`, handles);
    rmdirSync(entryPathOf(handles.fdOf(parentOf(path)), nameOf(path)));
  } catch (thrown) {
    if (['ENOTEMPTY', 'ENOTDIR'].includes(errnoOf(thrown) ?? '')) throw changedBySomebodyElse([fromRaw(path)]);
    throw thrown;
  }
}

/** Removes the directories that changes name and those that became empty. A directory with other entries stays. */
export async function removeEmpty(plan: ApplyPlan, { handles, touched }: PlacementState): Promise<RawName[]> {
  const candidates = new Set<RawName>();
  for (const { raw, before, after } of plan.values()) {
    if (!before || after) continue;
    if (before.kind === 'directory') candidates.add(raw);
    for (let above = parentOf(raw); above !== ''; above = parentOf(above)) candidates.add(above);
  }
  const removed: RawName[] = [];
  for (const path of [...candidates].sort((one, other) => depthOf(other) - depthOf(one))) {
    if (plan.get(path)?.after || !(await forPath(fromRaw(path), () => isRemoved(path, handles)))) continue;
    removed.push(path);
    touched.delete(path);
    touched.add(parentOf(path));
  }
  return removed;
}

function isRemoved(path: RawName, handles: DirectoryFds): boolean {
  try {
    rmdirSync(entryPathOf(handles.fdOf(parentOf(path)), nameOf(path)));
    handles.forget();
    return true;
  } catch (thrown) {
    if (['ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR', 'EBUSY'].includes(errnoOf(thrown) ?? '')) return false;
    throw thrown;
  }
}
