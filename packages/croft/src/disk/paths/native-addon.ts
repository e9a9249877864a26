import { closeSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import { constants as system } from 'node:os';
import { findNativeFile, isIntact } from '../../lib/processes/native-files.ts';

export type ReplaceArguments = readonly [
  handle: number,
  fromDirectory: number,
  fromName: string,
  toDirectory: number,
  toName: string,
  /**
   * For `replaceDurably`: whether the file system keeps the order of writes. For `replaceAtOnce`: whether no sync is
   * wanted.
   */
  how: boolean,
  ...before: readonly [] | readonly [ino: number, size: number, mtimeMs: number],
];

/** The functions of `native/files`, for which Node has no call. */
export interface Addon {
  /** Replaces a file durably, see `replace-durably.ts`. Returns zero, or the errno of the failure. */
  replaceDurably(...replacement: ReplaceArguments): Promise<number>;
  /** The same without a sync. Returns `EAGAIN` and does nothing if a sync is wanted and the file is on a disk. */
  replaceAtOnce(...replacement: ReplaceArguments): number;
  /** Renames a file in one step. Returns zero, or the errno of the failure: `EEXIST` if the name is taken. */
  moveIfFree(fromDirectory: number, fromName: string, toDirectory: number, toName: string): number;
  /**
   * Opens a path below an open directory. Returns a handle, or the negated errno. Follows no link: `ELOOP` for a link
   * on the way. `O_PATH` with `O_NOFOLLOW` opens a link at the end itself.
   */
  open(directoryFd: number, path: string, flags: number, mode: number): number;
  /** Opens exactly the file that an `O_PATH` handle names. Returns a handle, or the negated errno. */
  reopen(handle: number, flags: number): number;
  /** The offset of the next data or hole at or after `offset`, or the negated errno: `ENXIO` if there is none. */
  seek(handle: number, offset: number, wantsHole: boolean): number;
  /**
   * Takes a lock, which is a file in an open directory and is created if missing. Returns a handle whose closing
   * releases the lock, or the negated errno: `EALREADY` if somebody holds the lock, `ENOLCK` if the directory was
   * removed.
   */
  lock(directoryFd: number, name: string): number;
  /** The number that names the lock for the names in an open directory, or the negated errno. */
  lockNumber(directoryFd: number): number;
  /**
   * Sets the directory in which `replaceDurably` and `replaceAtOnce` take that lock. Before the first call they take
   * none.
   */
  useLocks(directoryFd: number): void;
  /**
   * Walks the tree below an open directory on another thread, by names alone. Returns where the wanted names are, as
   * `native/files/find-names.h` describes, or `undefined` if memory is exhausted. Names are divided by slashes.
   */
  findNames(
    handle: number,
    wanted: string,
    skipped: string,
    skippedInGit: string,
    maxDepth: number,
    maxEntries: number,
  ): Promise<Buffer | undefined>;
  /**
   * Mounts an overlay on another thread. The options may name directories by handles of this process, which stay open
   * until the mount is answered. Resolves with zero, or the errno of the failure.
   */
  mountOverlay(target: string, options: string): Promise<number>;
  /**
   * Unmounts on another thread, following no link. If `isLazy`, the mount loses its path at once, even if something has
   * it open. Resolves with zero, or the errno of the failure.
   */
  unmount(target: string, isLazy: boolean): Promise<number>;
}

/** The native addon. `undefined` if it is not there, not for this machine, or not the one that was compiled. */
export const addon = load();

function load(): Addon | undefined {
  const found = findNativeFile('croft-files.node');
  if (found === undefined || !isIntact(found)) return undefined;
  try {
    const loaded: Addon = createRequire(import.meta.url)(found.file);
    return hasOpenat2(loaded) ? loaded : undefined;
  } catch {
    return undefined;
  }
}

/** Whether `openat2` works: kernels before 5.6 lack it, and some containers forbid unknown system calls. */
function hasOpenat2({ open }: Addon): boolean {
  const currentDirectory = -100;
  const answer = open(currentDirectory, '.', constants.O_DIRECTORY, 0);
  if (answer >= 0) closeSync(answer);
  return answer !== -system.errno.ENOSYS && answer !== -system.errno.EPERM;
}
