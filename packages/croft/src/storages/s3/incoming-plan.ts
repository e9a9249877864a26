import { emptyRoot, type PathChange, type Root, type TreePath } from '../../core/history/tree.ts';
import type { Ground } from './ground.ts';
import type { Incoming } from './incoming.ts';
import { ancestorsOf, isMarker, keyOf, pathOfAny } from './keys.ts';
import type { Known } from './manifest.ts';
import { isSameEntry } from './object-entries.ts';
import { plain } from './settle.ts';

/** What is in the bucket by key. A key that is not there has no object. */
export type Found = ReadonlyMap<string, Incoming>;

/** Which of the keys nobody here has changed or is changing, nor anything above or below them. */
export function sortByDirty(
  keys: readonly string[],
  changes: readonly PathChange[],
  moving: ReadonlySet<TreePath>,
): { free: string[]; left: string[] } {
  const ofFiles = changes.filter(({ before, after }) => before?.kind !== 'directory' || after?.kind !== 'directory');
  const dirty = new Set([...ofFiles.map(({ path }) => path), ...moving]);
  const inTheWay = new Set(ofFiles.filter(({ after }) => after && after.kind !== 'directory').map(({ path }) => path));
  const above = new Set([...inTheWay].flatMap(ancestorsOf));
  const isDirty = (key: string): boolean => {
    const path = pathOfAny(key) ?? '';
    if (dirty.has(path) || ancestorsOf(path).some((directory) => inTheWay.has(directory))) return true;
    return !isMarker(key) && above.has(path);
  };
  return { free: keys.filter((key) => !isDirty(key)), left: keys.filter(isDirty) };
}

/** A file that stands where others have a directory now, and that does not go with these changes. */
export async function findBlock(
  ground: Ground,
  root: Root,
  keys: readonly string[],
  found: Found,
): Promise<TreePath | undefined> {
  const taken = new Set(keys);
  const directories = new Set(keys.filter((key) => found.has(key)).flatMap((key) => ancestorsOf(pathOfAny(key) ?? '')));
  for (const path of directories) {
    const key = keyOf(path) ?? '';
    const isGoing = taken.has(key) && !found.has(key);
    const kind = isGoing ? undefined : (await ground.tree.entry(root, path))?.kind;
    if (kind === 'file' || kind === 'link') return path;
  }
  return undefined;
}

/** What has to be done here, and which of the keys are as in the bucket then. */
export async function planTaking(
  ground: Ground,
  root: Root,
  keys: readonly string[],
  found: Found,
): Promise<{ changes: PathChange[]; taken: string[] }> {
  const changes: PathChange[] = [];
  const taken: string[] = [];
  const all = new Set(keys);
  for (const key of keys) {
    const path = pathOfAny(key) ?? '';
    const before = await ground.tree.entry(root, path);
    const known = found.get(key)?.known;
    if (known && isShadowed(ground, key, before, { found, all })) {
      ground.warn(`left alone, because there is a directory of the same name: ${path}`);
      continue;
    }
    taken.push(key);
    const change = isMarker(key) ? ofMarker(before, known) : ofFile(before, known);
    if (change && !isSameEntry(change.before, change.after)) changes.push({ path, ...change });
  }
  return { changes, taken };
}

/** There is a directory here that does not go with these changes: it wins, and the object stays where it is. */
function isShadowed(
  { manifest }: Ground,
  key: string,
  before: PathChange['before'],
  { found, all }: { found: Found; all: ReadonlySet<string> },
): boolean {
  if (isMarker(key) || before?.kind !== 'directory') return false;
  return !manifest.below(key).every((below) => all.has(below) && !found.has(below));
}

type Change = Omit<PathChange, 'path'> | undefined;

function ofFile(before: PathChange['before'], known: Known | undefined): Change {
  if (before?.kind === 'directory' && !known) return undefined;
  return before || known ? { before, after: known && plain(known) } : undefined;
}

function ofMarker(before: PathChange['before'], known: Known | undefined): Change {
  if (!before) return known && { after: plain(known) };
  if (before.kind !== 'directory') return undefined;
  if (known) return { before, after: { ...before, mode: known.mode } };
  return before.hash === emptyRoot ? { before } : undefined;
}
