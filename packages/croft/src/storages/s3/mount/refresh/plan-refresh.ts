import { emptyTreeHash, type PathChange, type TreeHash, type TreePath } from '../../../../core/history/ports/tree.ts';
import { ancestorsOf, isMarker, keyOfPath, pathOfFileOrMarker } from '../../layout/object-keys.ts';
import { isSameEntry } from '../../layout/object-metadata.ts';
import type { FetchedObject } from '../working-copy/fetch-object.ts';
import type { KnownObject } from '../working-copy/manifest.ts';
import type { MountContext } from '../working-copy/mount-context.ts';
import { toTreeEntry } from '../working-copy/publish-commit.ts';

/** The fetched objects by key. A key without an entry has no object. */
export type FetchedObjects = ReadonlyMap<string, FetchedObject>;

/**
 * Splits keys into `free` ones and ones `left` alone because the path, a parent or a child has uncommitted local
 * changes or is changing right now.
 */
export function splitByLocalChanges(
  keys: readonly string[],
  changes: readonly PathChange[],
  moving: ReadonlySet<TreePath>,
): { free: string[]; left: string[] } {
  const ofFiles = changes.filter(({ before, after }) => before?.kind !== 'directory' || after?.kind !== 'directory');
  const dirty = new Set([...ofFiles.map(({ path }) => path), ...moving]);
  const inTheWay = new Set(ofFiles.filter(({ after }) => after && after.kind !== 'directory').map(({ path }) => path));
  const above = new Set([...inTheWay].flatMap(ancestorsOf));
  const isDirty = (key: string): boolean => {
    const path = pathOfFileOrMarker(key) ?? '';
    if (dirty.has(path) || ancestorsOf(path).some((directory) => inTheWay.has(directory))) return true;
    return !isMarker(key) && above.has(path);
  };
  return { free: keys.filter((key) => !isDirty(key)), left: keys.filter(isDirty) };
}

/** Finds a local file that stands where others now have a directory, and that these changes do not remove. */
export async function findBlockingFile(
  context: MountContext,
  root: TreeHash,
  keys: readonly string[],
  found: FetchedObjects,
): Promise<TreePath | undefined> {
  const taken = new Set(keys);
  const directories = new Set(
    keys.filter((key) => found.has(key)).flatMap((key) => ancestorsOf(pathOfFileOrMarker(key) ?? '')),
  );
  for (const path of directories) {
    const key = keyOfPath(path) ?? '';
    const isGoing = taken.has(key) && !found.has(key);
    const kind = isGoing ? undefined : (await context.tree.entry(root, path))?.kind;
    if (kind === 'file' || kind === 'link') return path;
  }
  return undefined;
}

/** Plans the local changes, and says which keys match the bucket afterwards. */
export async function planRefresh(
  context: MountContext,
  root: TreeHash,
  keys: readonly string[],
  found: FetchedObjects,
): Promise<{ changes: PathChange[]; taken: string[] }> {
  const changes: PathChange[] = [];
  const taken: string[] = [];
  const all = new Set(keys);
  for (const key of keys) {
    const path = pathOfFileOrMarker(key) ?? '';
    const before = await context.tree.entry(root, path);
    const known = found.get(key)?.known;
    if (known && isShadowed(context, key, before, { found, all })) {
      context.warn(`an object of the bucket was left out, because there is a directory of the same name: ${path}`);
      continue;
    }
    taken.push(key);
    const change = isMarker(key) ? ofMarker(before, known) : ofFile(before, known);
    if (change && !isSameEntry(change.before, change.after)) changes.push({ path, ...change });
  }
  return { changes, taken };
}

/** Whether a local directory with this path stays: the directory wins, and the object is left where it is. */
function isShadowed(
  { manifest }: MountContext,
  key: string,
  before: PathChange['before'],
  { found, all }: { found: FetchedObjects; all: ReadonlySet<string> },
): boolean {
  if (isMarker(key) || before?.kind !== 'directory') return false;
  return !manifest.below(key).every((below) => all.has(below) && !found.has(below));
}

type Change = Omit<PathChange, 'path'> | undefined;

function ofFile(before: PathChange['before'], known: KnownObject | undefined): Change {
  if (before?.kind === 'directory' && !known) return undefined;
  return before || known ? { before, after: known && toTreeEntry(known) } : undefined;
}

function ofMarker(before: PathChange['before'], known: KnownObject | undefined): Change {
  if (!before) return known && { after: toTreeEntry(known) };
  if (before.kind !== 'directory') return undefined;
  if (known) return { before, after: { ...before, mode: known.mode } };
  return before.hash === emptyTreeHash ? { before } : undefined;
}
