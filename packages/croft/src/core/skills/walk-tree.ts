import type { DirectoryEntry, DirectoryListing } from '../files/files.ts';

interface TreeLimits {
  /** Limit for everything that is not a directory. */
  readonly entries: number;
  readonly directories: number;
  readonly depth: number;
}

export interface WalkedEntry {
  readonly path: string;
  readonly entry: DirectoryEntry;
}

interface WalkedTree {
  /** Everything that is not a directory. */
  readonly found: readonly WalkedEntry[];
  /** The tree has more than the limits allow. */
  readonly cut: boolean;
}

/** Lists a directory; `undefined` to skip it. */
type List = (path: string, limit: number) => Promise<DirectoryListing | undefined>;

/** Walks breadth first, so that near files are found before the limit. Follows no links. */
export async function walkTree(root: string, limits: TreeLimits, list: List): Promise<WalkedTree> {
  const found: WalkedEntry[] = [];
  let [level, seen, cut] = [[root], 0, false];
  for (let depth = 0; level.length > 0; depth++) {
    const below: string[] = [];
    for (const path of level) {
      if (depth > limits.depth || ++seen > limits.directories || found.length > limits.entries)
        return { found: found.slice(0, limits.entries), cut: true };
      const listing = await list(path, limits.entries);
      const entries = (listing?.entries ?? []).map((entry) => ({ path: `${path}/${entry.name}`, entry }));
      below.push(...entries.filter(isDirectory).map((walked) => walked.path));
      found.push(...entries.filter((walked) => !isDirectory(walked)));
      cut ||= listing?.cut ?? false;
    }
    level = below;
  }
  return { found: found.slice(0, limits.entries), cut: cut || found.length > limits.entries };
}

function isDirectory({ entry }: WalkedEntry): boolean {
  return entry.kind === 'directory';
}
