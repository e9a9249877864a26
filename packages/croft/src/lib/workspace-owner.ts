import { fstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

export type Owner = { readonly uid: number; readonly gid: number };

/**
 * A sandbox runs as the owner of its workspace rather than as the root a server may run as, who could not read the
 * owner's files without the privileges it gives up. Except where the owner has no way to the workspace.
 */
export function ownerOf(directory: number): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const { uid, gid } = fstatSync(directory);
  return canReach(dirname(readlinkSync(`/proc/self/fd/${directory}`)), { uid, gid }) ? { uid, gid } : undefined;
}

export function canReach(directory: string, owner: Owner): boolean {
  const { mode, uid, gid } = statSync(directory);
  const bit = uid === owner.uid ? 0o100 : gid === owner.gid ? 0o010 : 0o001;
  if (owner.uid !== 0 && (mode & bit) === 0) return false;
  return directory === '/' || canReach(dirname(directory), owner);
}

/** The first of those that an owner has no way to. */
export function findHidden(directories: readonly string[], owner: Owner | undefined): string | undefined {
  return owner && directories.find((directory) => !canReach(directory, owner));
}

/** Where an open directory is now. */
export function realpathOf(directory: number): string {
  return realpathSync.native(`/proc/self/fd/${directory}`);
}

/** As it is called, where it is not there any more. */
export function realpathOr(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
