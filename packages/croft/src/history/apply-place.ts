import { chmodSync, linkSync, mkdirSync, renameSync, unlinkSync } from 'node:fs';
import { fromRaw, type RawName } from '../core/history/raw-names.ts';
import { errnoOf } from '../disk/errors.ts';
import { at, statOf } from '../disk/handles.ts';
import { adopt } from '../disk/ownership.ts';
import { conflict, forPath, type Plan, type PlannedChange } from './apply-plan.ts';
import type { Staged } from './apply-stage.ts';
import { isUntouched } from './apply-verify.ts';
import { plainMode } from './diff-trees.ts';
import { nameOf, type PathHandles, parentOf } from './path-handles.ts';
import { placeOf } from './read-leaf.ts';

const openToUs = 0o700;

/** What has to be synced, and what may have been left empty. */
export interface Placing {
  readonly handles: PathHandles;
  readonly touched: Set<RawName>;
  readonly made: RawName[];
}

export async function makeDirectories(paths: readonly RawName[], plan: Plan, placing: Placing): Promise<void> {
  for (const path of paths) {
    const missing: RawName[] = [];
    for (let here = path; here !== '' && !isDirectory(here, placing.handles); here = parentOf(here)) missing.push(here);
    for (const each of missing.reverse()) await forPath(fromRaw(path), () => makeDirectory(each, plan, placing));
  }
}

function isDirectory(path: RawName, handles: PathHandles): boolean {
  try {
    handles.handleOf(path);
    return true;
  } catch {
    return false;
  }
}

function makeDirectory(path: RawName, plan: Plan, { handles, touched, made }: Placing): void {
  const above = handles.handleOf(parentOf(path));
  mkdirSync(placeOf(above, nameOf(path)), { mode: openToUs });
  const handle = handles.handleOf(path);
  adopt(handle, statOf(above));
  chmodSync(`/proc/self/fd/${handle}`, (plan.get(path)?.after?.mode ?? plainMode) | openToUs);
  made.push(path);
  touched.add(parentOf(path)).add(path);
}

export function putInPlace(staged: Staged, { handles, touched }: Placing): void {
  const { change, directory, name } = staged;
  const parent = parentOf(change.raw);
  if (change.found?.entry.kind !== 'directory') mustBeUntouchedNow(change, handles);
  const [from, to] = [at(handles.handleOf(directory), name), placeOf(handles.handleOf(parent), nameOf(change.raw))];
  const isThere = change.found !== undefined && change.found.entry.kind !== 'directory';
  if (isThere) renameSync(from, to);
  else putIfFree(from, to, change);
  touched.add(parent).add(directory);
}

/** Of two that make it at once, one must fail. */
function putIfFree(from: string, to: string | Buffer, { path }: PlannedChange): void {
  try {
    linkSync(from, to);
  } catch (thrown) {
    if (errnoOf(thrown) === 'EEXIST') throw conflict([path]);
    if (!['EPERM', 'ENOTSUP', 'EMLINK'].includes(errnoOf(thrown) ?? '')) throw thrown;
    renameSync(from, to);
    return;
  }
  unlinkSync(from);
}

function mustBeUntouchedNow(change: PlannedChange, handles: PathHandles): void {
  const isGoneByUs = change.found !== undefined && isReplaced(change.found.entry.kind, change.after?.kind);
  if (!isGoneByUs) mustBeUntouched(change, handles);
}

export function mustBeUntouched(change: PlannedChange, handles: PathHandles): void {
  if (!isUntouched(change, handles)) throw conflict([change.path]);
}

/** Files and links take each other's place in one step. */
export function isReplaced(before: string, after: string | undefined): boolean {
  if (after === undefined) return before !== 'directory';
  return (before === 'directory') !== (after === 'directory');
}
