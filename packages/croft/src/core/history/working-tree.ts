import type { Content, HistoryStore } from './store.ts';
import type { PathChange, Root, TreeEntry, TreePath, TreeScope } from './tree.ts';

export interface Captured {
  readonly root: Root;
  /** How many files and links are in it, and the bytes of both. */
  readonly files: number;
  readonly bytes: number;
  /** Paths whose content could not be read or kept (over `maxFileBytes`, unreadable, changing all the time): they are in the tree as they were last known, or not at all. */
  readonly missed: readonly TreePath[];
}

export interface CaptureOptions {
  readonly scope: TreeScope;
  /** Larger files are in the tree by their hash, but their content is not kept. Left out: all is kept. */
  readonly maxFileBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told from time to time how far it is. */
  onProgress?(done: number, total: number): void;
}

export interface ApplyOptions {
  /** Keeps bytes that are not in the store: a mount that takes in what others committed has them elsewhere. */
  read?(entry: TreeEntry, path: TreePath): AsyncIterable<Buffer>;
  readonly signal?: AbortSignal | undefined;
  onProgress?(done: number, total: number): void;
}

/**
 * The files of one workspace on a disk as a tree that can be remembered and brought back. What changed is known from the
 * kernel, so looking costs what changed. One per directory and server: everybody who captures shares it.
 *
 * Hostile: names, links, sizes and races of the tree are the agent's. Nothing is followed out, no program of the
 * workspace is run, memory does not grow with the size of a file.
 */
export interface WorkingTree extends AsyncDisposable {
  readonly store: HistoryStore;

  /** The tree as it is now. Its contents are in the store when this returns. */
  capture(options: CaptureOptions): Promise<Captured>;

  /** How `after` differs from `before`, by path, deepest changes only where directories are the same. Costs what differs. */
  diff(before: Root, after: Root): Promise<PathChange[]>;

  /** What stands at a path of a tree that was captured. */
  entry(root: Root, path: TreePath): Promise<TreeEntry | undefined>;

  /** Every entry of a tree but directories that hold something, in order of path. */
  entries(root: Root): AsyncIterable<{ path: TreePath; entry: TreeEntry }>;

  /** A tree like `root` but for these paths. Directories that are left empty by it go, those missing are made. */
  amend(root: Root, changes: readonly PathChange[]): Promise<Root>;

  /** The same without keeping it: whoever keeps these contents has the tree. `found` is what it has at the path. */
  draft(
    root: Root,
    change: Omit<PathChange, 'before'>,
  ): Promise<{ readonly root: Root; readonly contents: readonly Content[]; readonly found: TreeEntry | undefined }>;

  /**
   * Whether a file at this path is a part of the source, without looking. `undefined` where only a look can tell: it is in
   * a directory that is new, it says itself what git ignores, or the store has lost something since the last look.
   */
  isOfSource(path: TreePath): Promise<boolean | undefined>;

  /**
   * Makes the disk what `changes` say, from `before` to `after`, each file whole at every moment, durable on return.
   * Throws `E_CONFLICT` with the paths, and changes nothing, if one of them is not as `before` has it any more. Removes
   * directories that it leaves empty. Held files (`disk/held.ts`) are not touched and are answered.
   */
  apply(changes: readonly PathChange[], options?: ApplyOptions): Promise<{ readonly refused: readonly TreePath[] }>;

  /** Paths that may have changed since this was last asked by the same asker, without looking at contents. `everything` after more than could be followed. */
  touchedSince(asker: string): Promise<ReadonlySet<TreePath> | 'everything'>;

  /** How many files and links there are, ignored ones and those of any `.git` too, and their bytes. Nothing is read for it. */
  totals(): Promise<{ readonly files: number; readonly bytes: number }>;

  /** Told soon after something changes: for a live feed. Ends with the signal. */
  watch(
    onChange: (changes: readonly { path: TreePath; type: 'create' | 'write' | 'remove' }[]) => void,
    signal: AbortSignal,
  ): void;
}
