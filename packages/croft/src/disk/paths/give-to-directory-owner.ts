import { chownSync, fchownSync } from 'node:fs';

const isRoot = process.getuid?.() === 0;

/**
 * Gives a file that a server running as root created to the owner of its directory: the sandbox runs as that owner and
 * could not use a file of root. Works with an `O_PATH` handle.
 */
export function giveToDirectoryOwner(pathFd: number, { uid, gid }: { uid: number; gid: number }): void {
  if (isRoot && (uid !== 0 || gid !== 0)) chownSync(`/proc/self/fd/${pathFd}`, uid, gid);
}

/** Gives an open file to an owner: that of the replaced file, or of the directory. */
export function giveTo(handle: number, { uid, gid }: { uid: number; gid: number }): void {
  if (isRoot && (uid !== 0 || gid !== 0)) fchownSync(handle, uid, gid);
}
