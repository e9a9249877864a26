import { fstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

export type Owner = { readonly uid: number; readonly gid: number };

/**
 * Returns the user that sandboxes of a workspace run as: its owner, not root, because a root without privileges could
 * not read the files of the owner. Returns `undefined` if this process is not root, or if the owner cannot reach the
 * workspace.
 */
export function ownerOf(directoryFd: number): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const { uid, gid } = fstatSync(directoryFd);
  return canReach(dirname(readlinkSync(`/proc/self/fd/${directoryFd}`)), { uid, gid }) ? { uid, gid } : undefined;
}

export function canReach(directory: string, owner: Owner): boolean {
  const { mode, uid, gid } = statSync(directory);
  const bit = uid === owner.uid ? 0o100 : gid === owner.gid ? 0o010 : 0o001;
  if (owner.uid !== 0 && (mode & bit) === 0) return false;
  return directory === '/' || canReach(dirname(directory), owner);
}

/** Tells whether `owner` can read a file, by its mode and the directories above it. */
export function canRead(file: string, owner: Owner): boolean {
  const { mode, uid, gid } = statSync(file);
  const bit = uid === owner.uid ? 0o400 : gid === owner.gid ? 0o040 : 0o004;
  return (owner.uid === 0 || (mode & bit) !== 0) && canReach(dirname(file), owner);
}

/** Returns the first directory that `owner` cannot reach. */
export function findUnreachable(directories: readonly string[], owner: Owner | undefined): string | undefined {
  return owner && directories.find((directory) => !canReach(directory, owner));
}

/** Returns the current path of an open directory. */
export function realpathOf(directoryFd: number): string {
  return realpathSync.native(`/proc/self/fd/${directoryFd}`);
}

/** Returns the real path, or `path` itself if it does not exist. */
export function realpathOrSelf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
