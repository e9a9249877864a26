import { readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { fromRaw, type RawName } from '../core/history/raw-names.ts';
import { errnoOf } from '../disk/errors.ts';
import { isReplaced, mustBeUntouched, type Placing } from './apply-place.ts';
import { conflict, forPath, type Plan, type PlannedChange } from './apply-plan.ts';
import { depthOf, nameOf, type PathHandles, parentOf } from './path-handles.ts';
import { placeOf } from './read-leaf.ts';

/** Deepest first, so that directories are empty when their turn comes. */
export async function removeOld(plan: Plan, placing: Placing): Promise<void> {
  const gone = [...plan.values()].filter(({ before, after }) => before && isReplaced(before.kind, after?.kind));
  for (const change of gone.sort((one, other) => depthOf(other.raw) - depthOf(one.raw)))
    await forPath(change.path, () => removeOne(change, placing));
  placing.handles.forget();
}

function removeOne(change: PlannedChange, { handles, touched }: Placing): void {
  mustBeUntouched(change, handles);
  const parent = parentOf(change.raw);
  const place = placeOf(handles.handleOf(parent), nameOf(change.raw));
  if (change.before?.kind === 'directory') removeEmptied(change.raw, handles);
  else unlinkSync(place);
  touched.add(parent);
}

/** One that gives way to a file, with directories in it that nobody named. */
function removeEmptied(path: RawName, handles: PathHandles): void {
  const names = readdirSync(`/proc/self/fd/${handles.handleOf(path)}`, { encoding: 'latin1' });
  try {
    for (const name of names) removeEmptied(`${path}/${name}`, handles);
    rmdirSync(placeOf(handles.handleOf(parentOf(path)), nameOf(path)));
  } catch (thrown) {
    if (['ENOTEMPTY', 'ENOTDIR'].includes(errnoOf(thrown) ?? '')) throw conflict([fromRaw(path)]);
    throw thrown;
  }
}

/** Those that were named, and those that the rest has left empty. What holds something else stays. */
export async function removeEmpty(plan: Plan, { handles, touched }: Placing): Promise<RawName[]> {
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

function isRemoved(path: RawName, handles: PathHandles): boolean {
  try {
    rmdirSync(placeOf(handles.handleOf(parentOf(path)), nameOf(path)));
    handles.forget();
    return true;
  } catch (thrown) {
    if (['ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR', 'EBUSY'].includes(errnoOf(thrown) ?? '')) return false;
    throw thrown;
  }
}
