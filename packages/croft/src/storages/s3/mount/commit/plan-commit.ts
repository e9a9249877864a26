import { temporaryPrefix } from '../../../../core/files/temporary-prefix.ts';
import { emptyTreeHash, type PathChange, type TreeEntry, type TreePath } from '../../../../core/history/ports/tree.ts';
import { ancestorsOf, keyOfPath, markerOfKey } from '../../layout/object-keys.ts';
import { isSameEntry } from '../../layout/object-metadata.ts';
import type { KnownObject } from '../working-copy/manifest.ts';

/** An object to put or remove, on condition that it is unchanged in the bucket. */
export interface ObjectOperation {
  readonly key: string;
  readonly path: TreePath;
  /** Missing if the object is to be removed. */
  readonly entry?: TreeEntry | undefined;
  /** The object as the manifest has it. Missing if there is none. */
  readonly known?: KnownObject | undefined;
}

interface CommitSources {
  known(key: string): KnownObject | undefined;
  /** The entry at a path in the tree that is to be committed. */
  entryAt(path: TreePath): Promise<TreeEntry | undefined>;
  /** Paths that could not be captured: a path missing from the tree may still exist. */
  readonly missed: ReadonlySet<TreePath>;
}

interface CommitPlan {
  readonly operations: readonly ObjectOperation[];
  /** Paths whose keys would be too long. */
  readonly tooLong: readonly TreePath[];
}

const usualMode = 0o755;

/** Plans the operations in the bucket for changes of the tree. */
export async function planCommit(changes: readonly PathChange[], sources: CommitSources): Promise<CommitPlan> {
  const operations = new Map<string, ObjectOperation>();
  const tooLong: TreePath[] = [];
  const add = (operation: ObjectOperation | undefined) => operation && operations.set(operation.key, operation);
  for (const { path, after } of changes) {
    const key = keyOfPath(path);
    const isNothing = isTemporary(path) || (!after && (key === undefined || isMissed(path, sources.missed)));
    if (isNothing) continue;
    if (key === undefined) {
      tooLong.push(path);
      continue;
    }
    add(planObject(key, path, after?.kind === 'directory' ? undefined : after, sources.known(key)));
    add(planMarker(markerOfKey(key), path, after, sources.known(markerOfKey(key))));
  }
  for (const operation of await emptiedMarkers(changes, sources)) add(operation);
  return { operations: [...operations.values()], tooLong };
}

function planObject(key: string, path: TreePath, entry?: TreeEntry, known?: KnownObject): ObjectOperation | undefined {
  return isSameEntry(entry, known) ? undefined : { key, path, entry, known };
}

/** A directory gets a marker if no other object shows it or its mode. The marker is removed with its directory. */
function planMarker(key: string, path: TreePath, after?: TreeEntry, known?: KnownObject): ObjectOperation | undefined {
  if (after?.kind !== 'directory') return known && { key, path, known };
  const isNeeded = known !== undefined || after.hash === emptyTreeHash || after.mode !== usualMode;
  return isNeeded ? planObject(key, path, { ...after, hash: emptyTreeHash }, known) : undefined;
}

/** Plans the removal of markers of directories that vanished with their last file. */
async function emptiedMarkers(changes: readonly PathChange[], sources: CommitSources): Promise<ObjectOperation[]> {
  const directories = new Set(changes.filter(({ after }) => !after).flatMap(({ path }) => ancestorsOf(path)));
  const found: ObjectOperation[] = [];
  for (const path of directories) {
    const key = markerOfKey(keyOfPath(path) ?? '');
    const known = sources.known(key);
    if (known && !isMissed(path, sources.missed) && (await sources.entryAt(path))?.kind !== 'directory')
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
