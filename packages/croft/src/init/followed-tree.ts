/** The state of a path as the kernel reports it. */
export interface Sighting {
  /** Path from the root of the tree, in the form of `core/history/ports/tree.ts`. */
  readonly path: string;
  /**
   * `gone`: nothing exists at or below this path any more, except what is reported after it. `listed`: a directory that
   * was reported before; all of its names are reported after it, and other names are gone.
   */
  readonly kind: 'file' | 'link' | 'directory' | 'other' | 'gone' | 'listed';
  /** Permission bits. */
  readonly mode: number;
  /**
   * Size and times of a directory are not kept up to date, because names that come and go in it are reported
   * themselves.
   */
  readonly size: number;
  readonly inode: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

export interface FollowedChanges {
  /**
   * If true, `sightings` is the whole tree and everything else is gone; otherwise only what may have changed since the
   * last `take`.
   */
  readonly isWhole: boolean;
  readonly sightings: readonly Sighting[];
  /** Some directories have no inotify watch and are read again each time. */
  readonly isPolled?: true | undefined;
  /** The kernel's clock before reading: a file changed at exactly this time may change again without a new time. */
  readonly atNs: bigint;
}

/** A followed directory tree. */
export interface FollowedTree {
  /**
   * Returns everything that system calls changed since the last `take`, if they returned before this call. The first
   * answer is whole, and so is an answer after more changes than could be tracked. Directories without a watch are read
   * again. Directories come before their contents. `onFound` receives the sightings as they arrive, some of them twice
   * if reading starts again.
   */
  take(onFound?: (sightings: readonly Sighting[]) => void): Promise<FollowedChanges>;
  /** Calls `listener` soon after changes, but not for every change. For users that do not call `take` regularly. */
  onChange(listener: () => void): Disposable;
  close(): void;
}

export interface Follower {
  /** Follows the tree below `directory`, an open descriptor. Leaves neither the tree nor its filesystem. */
  open(directory: number): Promise<FollowedTree>;
}
