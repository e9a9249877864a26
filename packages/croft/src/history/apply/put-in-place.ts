import { chmodSync, linkSync, mkdirSync, renameSync, unlinkSync } from 'node:fs';
import { fromRaw, type RawName } from '../../core/history/trees/raw-names.ts';
import { errnoOf } from '../../disk/paths/file-errors.ts';
import { giveToDirectoryOwner } from '../../disk/paths/give-to-directory-owner.ts';
import { at, statOf } from '../../disk/paths/handles.ts';
import { type DirectoryFds, nameOf, parentOf } from '../files/directory-fds.ts';
import { entryPathOf } from '../files/read-leaf.ts';
import { defaultDirectoryMode } from '../tree/diff-trees.ts';
import { type ApplyPlan, changedBySomebodyElse, forPath, type PlannedChange } from './plan-changes.ts';
import type { StagedFile } from './stage-change.ts';
import { isUntouched } from './verify-changes.ts';

const ownerAccess = 0o700;

/** Collects the directories to fsync and the directories that were made. */
export interface PlacementState {
  readonly handles: DirectoryFds;
  readonly touched: Set<RawName>;
  readonly made: RawName[];
}

export async function makeDirectories(
  paths: readonly RawName[],
  plan: ApplyPlan,
  placing: PlacementState,
): Promise<void> {
  for (const path of paths) {
    const missing: RawName[] = [];
    for (let here = path; here !== '' && !isDirectory(here, placing.handles); here = parentOf(here)) missing.push(here);
    for (const each of missing.reverse()) await forPath(fromRaw(path), () => makeDirectory(each, plan, placing));
  }
}

function isDirectory(path: RawName, handles: DirectoryFds): boolean {
  try {
    handles.fdOf(path);
    return true;
  } catch {
    return false;
  }
}

function makeDirectory(path: RawName, plan: ApplyPlan, { handles, touched, made }: PlacementState): void {
  const above = handles.fdOf(parentOf(path));
  mkdirSync(entryPathOf(above, nameOf(path)), { mode: ownerAccess });
  const directoryFd = handles.fdOf(path);
  giveToDirectoryOwner(directoryFd, statOf(above));
  chmodSync(`/proc/self/fd/${directoryFd}`, (plan.get(path)?.after?.mode ?? defaultDirectoryMode) | ownerAccess);
  made.push(path);
  touched.add(parentOf(path)).add(path);
}

export function putInPlace(staged: StagedFile, { handles, touched }: PlacementState): void {
  const { change, directory, name } = staged;
  const parent = parentOf(change.raw);
  if (change.found?.entry.kind !== 'directory') mustBeUntouchedNow(change, handles);
  const [from, to] = [at(handles.fdOf(directory), name), entryPathOf(handles.fdOf(parent), nameOf(change.raw))];
  const isReplacing = change.found !== undefined && change.found.entry.kind !== 'directory';
  if (isReplacing) renameSync(from, to);
  else putIfFree(from, to, change);
  touched.add(parent).add(directory);
}

/** Uses link(2), which fails if the name exists: if two processes make the same file, one must fail. */
function putIfFree(from: string, to: string | Buffer, { path }: PlannedChange): void {
  try {
    linkSync(from, to);
  } catch (thrown) {
    if (errnoOf(thrown) === 'EEXIST') throw changedBySomebodyElse([path]);
    if (!['EPERM', 'ENOTSUP', 'EMLINK'].includes(errnoOf(thrown) ?? '')) throw thrown;
    renameSync(from, to);
    return;
  }
  unlinkSync(from);
}

function mustBeUntouchedNow(change: PlannedChange, handles: DirectoryFds): void {
  const isGoneByUs = change.found !== undefined && mustBeRemovedFirst(change.found.entry.kind, change.after?.kind);
  if (!isGoneByUs) mustBeUntouched(change, handles);
}

export function mustBeUntouched(change: PlannedChange, handles: DirectoryFds): void {
  if (!isUntouched(change, handles)) throw changedBySomebodyElse([change.path]);
}

/**
 * Whether the old entry has to be removed before the new one is put in place. Files and links replace each other in one
 * step.
 */
export function mustBeRemovedFirst(before: string, after: string | undefined): boolean {
  if (after === undefined) return before !== 'directory';
  return (before === 'directory') !== (after === 'directory');
}
