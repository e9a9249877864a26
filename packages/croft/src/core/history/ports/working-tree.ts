import type { Content, HistoryStore } from './history-store.ts';
import type { PathChange, TreeEntry, TreeHash, TreePath, TreeScope } from './tree.ts';

export interface Captured {
  readonly root: TreeHash;
  /** Number of files and links in the tree, and their bytes. */
  readonly files: number;
  readonly bytes: number;
  /**
   * Paths whose content could not be read or stored (over `maxFileBytes`, unreadable, or changing all the time). They
   * are in the tree as last known, or not at all.
   */
  readonly missed: readonly TreePath[];
  /** Paths that an earlier capture did not wait for (`maxHoleBytes`). It is unknown when they changed. */
  readonly late: readonly TreePath[];
  /**
   * The kernel had too few watches, so some directories were listed again, which takes longer the more they contain.
   */
  readonly isPolled?: true | undefined;
  /** Directories that were listed and whose `.gitignore` is too expensive to obey completely. */
  readonly cutRules: readonly TreePath[];
}

/** Number of files found so far, and their bytes. */
export interface ScanProgress {
  readonly files: number;
  readonly bytes: number;
}

export interface CaptureOptions {
  readonly scope: TreeScope;
  /**
   * Larger files are in the tree by their hash, and their content is not stored. Without it, every content is stored.
   */
  readonly maxFileBytes?: number | undefined;
  /**
   * Limits the bytes of holes that are read. Files beyond the limit are hashed after the capture and are in `missed`
   * until a later one: a file of holes can have any size at no cost, and nobody should wait for it. Without it, all
   * holes are read.
   */
  readonly maxHoleBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called from time to time with the progress. */
  onProgress?(done: number, total: number): void;
  /** Called while the tree is scanned, before any file is read. */
  onFound?(found: ScanProgress): void;
}

/** A moment in the life of a tree, valid for that tree only. */
export interface TreeMoment {
  readonly scanNumber: number;
  /**
   * A time of the kernel's clock: files that existed at the moment were born at it or earlier, later files after it.
   */
  readonly bornBeforeNs: bigint;
}

/** Automatic captures include larger files by their hash alone. Captures that use the same limit read no file twice. */
export const maxStoredFileBytes = 32 * 1024 * 1024;

export interface TreeApplyOptions {
  /** Provides contents that are not in the store: a mount that takes in commits of others has them elsewhere. */
  read?(entry: TreeEntry, path: TreePath): AsyncIterable<Buffer>;
  /**
   * The changes come from the storage of the workspace. Control files are then changed as well, as when the workspace
   * is opened.
   */
  readonly isFromStorage?: true;
  readonly signal?: AbortSignal | undefined;
  onProgress?(done: number, total: number): void;
}

/** Why a scan or a capture that was under way when its tree was closed did not end. */
export class TreeClosed extends Error {}

/**
 * The files of one workspace on a disk, as a tree that can be captured and restored. The kernel reports what changed,
 * so a capture costs what changed. There is one per directory and server, and all users share it.
 *
 * The content is hostile: names, links, sizes and races are chosen by the agent. No link is followed out of the tree,
 * no program of the workspace is run, and memory does not grow with the size of a file.
 */
export interface WorkingTree extends AsyncDisposable {
  readonly store: HistoryStore;

  /** Captures the tree as it is now. Its contents are in the store when this returns. */
  capture(options: CaptureOptions): Promise<Captured>;

  /**
   * Returns how `after` differs from `before`, by path. Directories that both have are listed only if they changed
   * themselves. Costs what differs.
   */
  diff(before: TreeHash, after: TreeHash): Promise<PathChange[]>;

  /** Returns the entry at a path of a captured tree. */
  entry(root: TreeHash, path: TreePath): Promise<TreeEntry | undefined>;

  /** Yields every entry of a tree except for non-empty directories, in order of path. */
  entries(root: TreeHash): AsyncIterable<{ path: TreePath; entry: TreeEntry }>;

  /** Returns a tree like `root` with these changes. Removes directories that become empty, and makes missing ones. */
  amend(root: TreeHash, changes: readonly PathChange[]): Promise<TreeHash>;

  /**
   * As `amend`, without storing: the tree exists once the caller stores `contents`. `found` is the entry of `root` at
   * the path.
   */
  draft(
    root: TreeHash,
    change: Omit<PathChange, 'before'>,
  ): Promise<{ readonly root: TreeHash; readonly contents: readonly Content[]; readonly found: TreeEntry | undefined }>;

  /**
   * Whether a file at this path belongs to the source, without a scan. Returns `undefined` if only a scan can tell: the
   * directory is new, the file is a `.gitignore`, or the store has lost contents since the last capture.
   */
  isOfSource(path: TreePath): Promise<boolean | undefined>;

  /**
   * Changes the disk from `before` to `after`. Each file is complete at every moment, and everything is durable on
   * return. Throws `E_CONFLICT` with the paths, and changes nothing, if a path is no longer as in `before`. Removes
   * directories that it leaves empty. Control files (`disk/control-files`) are not changed and are returned as
   * `refused`.
   */
  apply(changes: readonly PathChange[], options?: TreeApplyOptions): Promise<{ readonly refused: readonly TreePath[] }>;

  /**
   * Returns the paths that may have changed since the last call with the same `asker`, without reading contents.
   * Returns `everything` if there were too many to follow, or on the first call.
   */
  touchedSince(asker: string): Promise<ReadonlySet<TreePath> | 'everything'>;

  /**
   * Returns the number and bytes of all files and links, including ignored ones and those of any `.git`. Reads no file.
   */
  totals(): Promise<{ readonly files: number; readonly bytes: number }>;

  /** Returns the current moment, for `removeFilesMadeSince`. */
  markMoment(): Promise<TreeMoment>;

  /**
   * Deletes files that were made after the moment, at paths where no file was. Leaves files that were moved there,
   * files of a `.git`, which would break, and guarded control files. Returns the deleted paths.
   */
  removeFilesMadeSince(since: TreeMoment): Promise<readonly TreePath[]>;

  /** Calls `onChange` shortly after something changes, for a live feed. Ends with the signal. */
  watch(
    onChange: (changes: readonly { path: TreePath; type: 'create' | 'write' | 'remove' }[]) => void,
    signal: AbortSignal,
  ): void;
}
