import { AppError } from '@croft/protocol';
import { byName, isName, type RawEntry } from '../core/history/listing.ts';
import { type RawName, toRaw } from '../core/history/raw-names.ts';
import type { Content } from '../core/history/store.ts';
import { emptyRoot, type PathChange, type Root, type TreeEntry } from '../core/history/tree.ts';
import { plainMode } from './diff-trees.ts';
import { type Listings, toContent } from './listings.ts';

const linkMode = 0o777;

/** What is to be at a name, and what is to be below it. */
interface Wanted {
  entry?: { readonly is: TreeEntry | undefined };
  readonly below: Map<RawName, Wanted>;
}

/** Answers the new root, and the listings that it needs, which are to be kept. */
export async function amendTree(
  listings: Listings,
  root: Root,
  changes: readonly PathChange[],
): Promise<{ root: Root; contents: Content[] }> {
  const contents: Content[] = [];

  async function amend(old: Root, wanted: Wanted): Promise<Root> {
    if (wanted.below.size === 0) return old;
    const entries = new Map((await listings.load(old)).map((entry) => [entry.name, entry]));
    for (const [name, want] of wanted.below) {
      const fresh = await amendEntry(name, entries.get(name), want);
      if (fresh) entries.set(name, fresh);
      else entries.delete(name);
    }
    const inOrder = [...entries.values()].sort(byName);
    const content = toContent(inOrder);
    contents.push(content);
    listings.learn(content.hash, content.bytes, inOrder);
    return content.hash;
  }

  async function amendEntry(name: RawName, old: RawEntry | undefined, want: Wanted): Promise<RawEntry | undefined> {
    const is = want.entry?.is;
    if (is && is.kind !== 'directory') return listed(name, is);
    if (want.entry && !is && want.below.size === 0) return undefined;
    const hash = await amend(old?.kind === 'directory' ? old.hash : graftOf(want), want);
    // What is left empty goes, unless somebody wants exactly that.
    if (hash === emptyRoot && !is && want.below.size > 0) return undefined;
    return listed(name, { kind: 'directory', mode: modeOf(want, old), size: 0, hash });
  }

  const wanted = arrange(changes);
  return { root: await amend(root, wanted), contents };
}

/** As it is once it was written down and read again. */
function listed(name: RawName, { kind, mode, size, hash }: TreeEntry): RawEntry {
  return { name, kind, mode: kind === 'link' ? linkMode : mode & 0o777, size, hash };
}

/** A new directory with nothing said of what it holds is taken as it is. */
function graftOf({ entry, below }: Wanted): Root {
  return entry?.is?.kind === 'directory' && below.size === 0 ? entry.is.hash : emptyRoot;
}

function modeOf({ entry }: Wanted, old: RawEntry | undefined): number {
  const told = entry ? entry.is : old;
  return told?.kind === 'directory' ? told.mode : plainMode;
}

function arrange(changes: readonly PathChange[]): Wanted {
  const top: Wanted = { below: new Map() };
  for (const { path, after } of changes) {
    let here = top;
    for (const name of namesOf(path)) {
      const below = here.below.get(name) ?? { below: new Map() };
      here.below.set(name, below);
      here = below;
    }
    here.entry = { is: after };
  }
  return top;
}

/** Throws for a path that leads anywhere but below the root. */
export function namesOf(path: string): RawName[] {
  const names = toRaw(path).split('/');
  if (names.every(isName)) return names;
  throw new AppError('E_INVALID_PATH', `not a path of a tree: ${path}`, { details: { path } });
}
