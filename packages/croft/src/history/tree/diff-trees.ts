import {
  emptyTreeHash,
  type PathChange,
  type TreeEntry,
  type TreeHash,
  type TreePath,
} from '../../core/history/ports/tree.ts';
import type { RawEntry } from '../../core/history/trees/listing-codec.ts';
import { fromRaw, type RawName } from '../../core/history/trees/raw-names.ts';
import type { ListingCache } from './listing-cache.ts';

/** The mode of directories that no change names, such as a missing directory on the way to a file. */
export const defaultDirectoryMode = 0o755;

/** Compares two trees and descends only where hashes differ. */
export async function diffTrees(listings: ListingCache, before: TreeHash, after: TreeHash): Promise<PathChange[]> {
  const changes: PathChange[] = [];

  async function compare(path: RawName, old: TreeHash, fresh: TreeHash): Promise<void> {
    if (old === fresh) return;
    const [left, right] = await Promise.all([listings.load(old), listings.load(fresh)]);
    const names = new Map(right.map((entry) => [entry.name, entry]));
    const seen = new Set(left.map(({ name }) => name));
    for (const entry of left) await differ(path, entry, names.get(entry.name));
    for (const entry of right) if (!seen.has(entry.name)) await differ(path, undefined, entry);
  }

  async function differ(prefix: RawName, old: RawEntry | undefined, fresh: RawEntry | undefined): Promise<void> {
    if (old && fresh && isSameEntry(old, fresh)) return;
    const path = prefix + (old ?? fresh)?.name;
    if (isReported(old, fresh)) changes.push({ path: fromRaw(path), before: bare(old), after: bare(fresh) });
    if (old?.kind === 'directory' || fresh?.kind === 'directory')
      await compare(`${path}/`, listingHashOf(old), listingHashOf(fresh));
  }

  await compare('', before, after);
  return changes.sort((one, other) => comparePaths(one.path, other.path));
}

/**
 * Whether the diff lists this entry. Directories follow from their entries, so they are listed only if they are empty
 * or have a mode of their own.
 */
function isReported(old: RawEntry | undefined, fresh: RawEntry | undefined): boolean {
  const [was, is] = [old?.kind === 'directory', fresh?.kind === 'directory'];
  if (was && is) return old?.mode !== fresh?.mode || old?.hash === emptyTreeHash || fresh?.hash === emptyTreeHash;
  const onlyDirectory = was ? old : is ? fresh : undefined;
  if (!onlyDirectory || (old && fresh)) return true;
  return onlyDirectory.hash === emptyTreeHash || onlyDirectory.mode !== defaultDirectoryMode;
}

export function isSameEntry(one: TreeEntry, other: TreeEntry): boolean {
  return one.kind === other.kind && one.mode === other.mode && one.hash === other.hash && one.size === other.size;
}

function listingHashOf(entry: RawEntry | undefined): TreeHash {
  return entry?.kind === 'directory' ? entry.hash : emptyTreeHash;
}

function bare(entry: RawEntry | undefined): TreeEntry | undefined {
  return entry && { kind: entry.kind, mode: entry.mode, size: entry.size, hash: entry.hash };
}

function comparePaths(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

export async function entryAt(listings: ListingCache, root: TreeHash, path: RawName): Promise<TreeEntry | undefined> {
  let found: RawEntry | undefined;
  let here: TreeHash | undefined = root;
  for (const name of path.split('/')) {
    if (here === undefined) return undefined;
    found = (await listings.load(here)).find((entry) => entry.name === name);
    here = found?.kind === 'directory' ? found.hash : undefined;
    if (!found) return undefined;
  }
  return bare(found);
}

/** Yields entries in the byte order of whole paths, which is not that of names: `a-b` comes before `a/b`. */
export async function* entriesOf(
  listings: ListingCache,
  root: TreeHash,
  prefix: RawName = '',
): AsyncGenerator<{ path: TreePath; entry: TreeEntry }> {
  const key = ({ kind, name }: RawEntry) => (kind === 'directory' ? `${name}/` : name);
  const inOrder = (await listings.load(root)).toSorted((one, other) => comparePaths(key(one), key(other)));
  for (const entry of inOrder) {
    const path = prefix + entry.name;
    if (entry.kind === 'directory' && entry.hash !== emptyTreeHash) yield* entriesOf(listings, entry.hash, `${path}/`);
    else
      yield { path: fromRaw(path), entry: { kind: entry.kind, mode: entry.mode, size: entry.size, hash: entry.hash } };
  }
}
