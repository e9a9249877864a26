/**
 * A path from the root of a tree, with `/` between names and none at the ends. A byte of a name that is not UTF-8 is
 * half of a surrogate pair (`lib/files/path-bytes.ts`), so that every possible name has a path of its own.
 */
export type TreePath = string;

export type EntryKind = 'file' | 'link' | 'directory';

/** An entry at a path: a file, a link or a directory. Sockets, pipes and devices are no entries. */
export interface TreeEntry {
  readonly kind: EntryKind;
  /** Permission bits. Those of a link mean nothing and are 0o777. */
  readonly mode: number;
  /** Size of the content; 0 for a directory. */
  readonly size: number;
  /** sha256 in hex: of the content of a file, the target of a link, the listing of a directory. */
  readonly hash: string;
}

/**
 * Identifies a whole tree by the hash of its root listing. Trees with the same names, modes and contents have the same
 * hash.
 */
export type TreeHash = string;

/** The hash of the empty tree: of a listing without lines. */
export const emptyTreeHash: TreeHash = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** How one path differs between two trees. A missing side means that nothing is there. At least one side is given. */
export interface PathChange {
  readonly path: TreePath;
  readonly before?: TreeEntry | undefined;
  readonly after?: TreeEntry | undefined;
}

/** Selects the paths that a tree includes. */
export type TreeScope =
  /** Neither files that git ignores nor any `.git`: what people call their files. */
  | 'source'
  /** Ignored files too, but no `.git`. */
  | 'with-ignored'
  /** Everything. */
  | 'all';
