import { chownSync, fchownSync } from 'node:fs';

const isRoot = process.getuid?.() === 0;

/**
 * Gives what a server that runs as root made to the owner of the directory it is in: the sandbox runs as that
 * owner, and could not use a file of root's. `place` may be a handle that only names.
 */
export function adopt(place: number, { uid, gid }: { uid: number; gid: number }): void {
  if (isRoot && (uid !== 0 || gid !== 0)) chownSync(`/proc/self/fd/${place}`, uid, gid);
}

/** The same for an open file, from the stat of the one it replaces. */
export function giveTo(handle: number, { uid, gid }: { uid: number; gid: number }): void {
  if (isRoot && (uid !== 0 || gid !== 0)) fchownSync(handle, uid, gid);
}
