import type { RawEntry } from '../core/history/listing.ts';
import { fromRaw, type RawName } from '../core/history/raw-names.ts';
import { emptyRoot, type PathChange, type Root, type TreeEntry, type TreePath } from '../core/history/tree.ts';
import type { Listings } from './listings.ts';

/** The mode of directories that nobody named: one that is missing on the way to a file gets it. */
export const plainMode = 0o755;

/** Goes only where the hashes differ. */
export async function diffTrees(listings: Listings, before: Root, after: Root): Promise<PathChange[]> {
  const changes: PathChange[] = [];

  async function compare(path: RawName, old: Root, fresh: Root): Promise<void> {
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
    if (isTold(old, fresh)) changes.push({ path: fromRaw(path), before: bare(old), after: bare(fresh) });
    if (old?.kind === 'directory' || fresh?.kind === 'directory') await compare(`${path}/`, rootOf(old), rootOf(fresh));
  }

  await compare('', before, after);
  return changes.sort((one, other) => comparePaths(one.path, other.path));
}

/** Directories that hold something are there because of what they hold, unless their modes are to be told. */
function isTold(old: RawEntry | undefined, fresh: RawEntry | undefined): boolean {
  const [was, is] = [old?.kind === 'directory', fresh?.kind === 'directory'];
  if (was && is) return old?.mode !== fresh?.mode || old?.hash === emptyRoot || fresh?.hash === emptyRoot;
  const directory = was ? old : is ? fresh : undefined;
  if (!directory || (old && fresh)) return true;
  return directory.hash === emptyRoot || directory.mode !== plainMode;
}

export function isSameEntry(one: TreeEntry, other: TreeEntry): boolean {
  return one.kind === other.kind && one.mode === other.mode && one.hash === other.hash && one.size === other.size;
}

function rootOf(entry: RawEntry | undefined): Root {
  return entry?.kind === 'directory' ? entry.hash : emptyRoot;
}

function bare(entry: RawEntry | undefined): TreeEntry | undefined {
  return entry && { kind: entry.kind, mode: entry.mode, size: entry.size, hash: entry.hash };
}

function comparePaths(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

export async function entryAt(listings: Listings, root: Root, path: RawName): Promise<TreeEntry | undefined> {
  let found: RawEntry | undefined;
  let here: Root | undefined = root;
  for (const name of path.split('/')) {
    if (here === undefined) return undefined;
    found = (await listings.load(here)).find((entry) => entry.name === name);
    here = found?.kind === 'directory' ? found.hash : undefined;
    if (!found) return undefined;
  }
  return bare(found);
}

/** In order of the bytes of whole paths, which is not that of names: `a-b` comes before `a/b`. */
export async function* entriesOf(
  listings: Listings,
  root: Root,
  prefix: RawName = '',
): AsyncGenerator<{ path: TreePath; entry: TreeEntry }> {
  const key = ({ kind, name }: RawEntry) => (kind === 'directory' ? `${name}/` : name);
  const inOrder = (await listings.load(root)).toSorted((one, other) => comparePaths(key(one), key(other)));
  for (const entry of inOrder) {
    const path = prefix + entry.name;
    if (entry.kind === 'directory' && entry.hash !== emptyRoot) yield* entriesOf(listings, entry.hash, `${path}/`);
    else
      yield { path: fromRaw(path), entry: { kind: entry.kind, mode: entry.mode, size: entry.size, hash: entry.hash } };
  }
}
