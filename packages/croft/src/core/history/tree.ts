/**
 * Paths of a tree are from its root, with `/` between names and none at the ends. A byte of a name that is no UTF-8 is
 * half of a surrogate pair (`lib/path-bytes.ts`), so that every name there can be has a path of its own.
 */
export type TreePath = string;

export type EntryKind = 'file' | 'link' | 'directory';

/** What stands at a path. Sockets, pipes and devices do not. */
export interface TreeEntry {
  readonly kind: EntryKind;
  /** Permission bits; those of a link mean nothing and are 0o777. */
  readonly mode: number;
  /** Of the content; 0 for a directory. */
  readonly size: number;
  /** Of a file its content, of a link its target, of a directory its listing: sha256, in hex. */
  readonly hash: string;
}

/** A whole tree, by the hash of its root's listing. The same files under the same names with the same modes: the same root. */
export type Root = string;

/** The tree in which there is nothing: the hash of a listing without lines. */
export const emptyRoot: Root = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** How one path differs between two trees. Left out: there is nothing. Both are never left out. */
export interface PathChange {
  readonly path: TreePath;
  readonly before?: TreeEntry | undefined;
  readonly after?: TreeEntry | undefined;
}

/** Which paths a tree takes in. */
export type TreeScope =
  /** Neither what git ignores nor any `.git`: what people call their files. */
  | 'source'
  /** Ignored files too, but no `.git`. */
  | 'with-ignored'
  /** Everything. */
  | 'all';
