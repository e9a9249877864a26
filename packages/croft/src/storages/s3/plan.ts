import { emptyRoot, type PathChange, type TreeEntry, type TreePath } from '../../core/history/tree.ts';
import { temporaryPrefix } from '../../core/temporary.ts';
import { ancestorsOf, keyOf, markerOf } from './keys.ts';
import type { Known } from './manifest.ts';
import { isSameEntry } from './object-entries.ts';

/** One object to be put or removed, if it still is as it was. */
export interface Operation {
  readonly key: string;
  readonly path: TreePath;
  /** Left out: it is to be removed. */
  readonly entry?: TreeEntry | undefined;
  /** What we know of the object. Left out: there is none. */
  readonly known?: Known | undefined;
}

export interface Surroundings {
  known(key: string): Known | undefined;
  /** In the tree that is to be committed. */
  entryAt(path: TreePath): Promise<TreeEntry | undefined>;
  /** Paths that could not be read, or not kept: that one of them is not in the tree does not mean that it is gone. */
  readonly missed: ReadonlySet<TreePath>;
}

export interface Plan {
  readonly operations: readonly Operation[];
  /** Paths too long to be keys. */
  readonly tooLong: readonly TreePath[];
}

const usualMode = 0o755;

/** What has to be done in the bucket for changes of the tree. */
export async function planCommit(changes: readonly PathChange[], around: Surroundings): Promise<Plan> {
  const operations = new Map<string, Operation>();
  const tooLong: TreePath[] = [];
  const add = (operation: Operation | undefined) => operation && operations.set(operation.key, operation);
  for (const { path, after } of changes) {
    const key = keyOf(path);
    const isNothing = isTemporary(path) || (!after && (key === undefined || isMissed(path, around.missed)));
    if (isNothing) continue;
    if (key === undefined) {
      tooLong.push(path);
      continue;
    }
    add(planObject(key, path, after?.kind === 'directory' ? undefined : after, around.known(key)));
    add(planMarker(markerOf(key), path, after, around.known(markerOf(key))));
  }
  for (const operation of await emptiedMarkers(changes, around)) add(operation);
  return { operations: [...operations.values()], tooLong };
}

function planObject(key: string, path: TreePath, entry?: TreeEntry, known?: Known): Operation | undefined {
  return isSameEntry(entry, known) ? undefined : { key, path, entry, known };
}

/** A marker is put for what would not be there otherwise, and goes with its directory. */
function planMarker(key: string, path: TreePath, after?: TreeEntry, known?: Known): Operation | undefined {
  if (after?.kind !== 'directory') return known && { key, path, known };
  const isNeeded = known !== undefined || after.hash === emptyRoot || after.mode !== usualMode;
  return isNeeded ? planObject(key, path, { ...after, hash: emptyRoot }, known) : undefined;
}

/** Of directories that are gone with what was in them. */
async function emptiedMarkers(changes: readonly PathChange[], around: Surroundings): Promise<Operation[]> {
  const directories = new Set(changes.filter(({ after }) => !after).flatMap(({ path }) => ancestorsOf(path)));
  const found: Operation[] = [];
  for (const path of directories) {
    const key = markerOf(keyOf(path) ?? '');
    const known = around.known(key);
    if (known && !isMissed(path, around.missed) && (await around.entryAt(path))?.kind !== 'directory')
      found.push({ key, path, known });
  }
  return found;
}

function isTemporary(path: TreePath): boolean {
  return path.split('/').some((name) => name.startsWith(temporaryPrefix));
}

function isMissed(path: TreePath, missed: ReadonlySet<TreePath>): boolean {
  return missed.size > 0 && (missed.has(path) || ancestorsOf(path).some((directory) => missed.has(directory)));
}
