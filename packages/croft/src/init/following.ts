/** What stands at a path, as the kernel has it. */
export interface Sighting {
  /** From the root, as `core/history/tree.ts` has paths. */
  readonly path: string;
  /** `gone`: nothing is there any more, nor anything below it, but for what is told after it. */
  readonly kind: 'file' | 'link' | 'directory' | 'other' | 'gone';
  /** Permission bits. */
  readonly mode: number;
  /** A name that comes or goes in a directory is told by itself: size and times of the directory are not kept up. */
  readonly size: number;
  readonly inode: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

export interface Taken {
  /** Everything there is, and what is not among it is gone; otherwise only what may have changed since the last. */
  readonly isWhole: boolean;
  readonly sightings: readonly Sighting[];
  /** The kernel's clock before the look: what was changed at that very moment may change again without it showing. */
  readonly atNs: bigint;
}

/** One directory tree and what changes in it. */
export interface Following {
  /**
   * What every system call that returned before this one was made has changed since the last: the first is whole, and so
   * is each after more happened than could be followed, or where nothing can be (no watches left). Directories come
   * before what is in them.
   */
  take(): Promise<Taken>;
  /** Told, not for every change but soon after some. For whoever is not calling `take` anyway. */
  onChange(listener: () => void): Disposable;
  close(): void;
}

export interface Follower {
  /** `directory` is an open handle of ours. Nothing is followed out of it, and no other file system is entered. */
  open(directory: number): Promise<Following>;
}
