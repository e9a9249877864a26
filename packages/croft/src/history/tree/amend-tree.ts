import { AppError } from '@croft/protocol';
import type { Content } from '../../core/history/ports/history-store.ts';
import { emptyTreeHash, type PathChange, type TreeEntry, type TreeHash } from '../../core/history/ports/tree.ts';
import { byName, isName, type RawEntry } from '../../core/history/trees/listing-codec.ts';
import { type RawName, toRaw } from '../../core/history/trees/raw-names.ts';
import { defaultDirectoryMode } from './diff-trees.ts';
import { type ListingCache, toListingContent } from './listing-cache.ts';

const linkMode = 0o777;

/** The new entry of a name, and the new entries below it. */
interface Wanted {
  entry?: { readonly is: TreeEntry | undefined };
  readonly below: Map<RawName, Wanted>;
}

/** Returns the hash of the new tree, and the listings that the caller has to store for it. */
export async function amendTree(
  listings: ListingCache,
  root: TreeHash,
  changes: readonly PathChange[],
): Promise<{ root: TreeHash; contents: Content[] }> {
  const contents: Content[] = [];

  async function amend(old: TreeHash, wanted: Wanted): Promise<TreeHash> {
    if (wanted.below.size === 0) return old;
    const entries = new Map((await listings.load(old)).map((entry) => [entry.name, entry]));
    for (const [name, want] of wanted.below) {
      const fresh = await amendEntry(name, entries.get(name), want);
      if (fresh) entries.set(name, fresh);
      else entries.delete(name);
    }
    const inOrder = [...entries.values()].sort(byName);
    const content = toListingContent(inOrder);
    contents.push(content);
    listings.remember(content.hash, content.bytes, inOrder);
    return content.hash;
  }

  async function amendEntry(name: RawName, old: RawEntry | undefined, want: Wanted): Promise<RawEntry | undefined> {
    const is = want.entry?.is;
    if (is && is.kind !== 'directory') return listed(name, is);
    if (want.entry && !is && want.below.size === 0) return undefined;
    const hash = await amend(old?.kind === 'directory' ? old.hash : graftOf(want), want);
    // A directory that becomes empty is removed, unless a change asks for an empty directory.
    if (hash === emptyTreeHash && !is && want.below.size > 0) return undefined;
    return listed(name, { kind: 'directory', mode: modeOf(want, old), size: 0, hash });
  }

  const wanted = arrange(changes);
  return { root: await amend(root, wanted), contents };
}

/** Returns the entry in the form that a stored listing gives back. */
function listed(name: RawName, { kind, mode, size, hash }: TreeEntry): RawEntry {
  return { name, kind, mode: kind === 'link' ? linkMode : mode & 0o777, size, hash };
}

/** A new directory whose entries no change names is taken as a whole, by its listing. */
function graftOf({ entry, below }: Wanted): TreeHash {
  return entry?.is?.kind === 'directory' && below.size === 0 ? entry.is.hash : emptyTreeHash;
}

function modeOf({ entry }: Wanted, old: RawEntry | undefined): number {
  const given = entry ? entry.is : old;
  return given?.kind === 'directory' ? given.mode : defaultDirectoryMode;
}

function arrange(changes: readonly PathChange[]): Wanted {
  const top: Wanted = { below: new Map() };
  for (const { path, after } of changes) {
    let here = top;
    for (const name of splitTreePath(path)) {
      const below = here.below.get(name) ?? { below: new Map() };
      here.below.set(name, below);
      here = below;
    }
    here.entry = { is: after };
  }
  return top;
}

/** Throws for a path that leads anywhere but below the root. */
export function splitTreePath(path: string): RawName[] {
  const names = toRaw(path).split('/');
  if (names.every(isName)) return names;
  throw new AppError('E_INVALID_PATH', `not a path of a tree: ${path}`, { details: { path } });
}
