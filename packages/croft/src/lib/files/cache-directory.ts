import { closeSync, constants, fchmodSync, fchownSync, mkdirSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sha256 } from '../crypto/sha256.ts';

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;

/**
 * Returns the cache directory of a workspace. The name is a hash of the path of the workspace, because two workspaces
 * may have the same name.
 */
export function cacheDirectoryFor(caches: string, workspacePath: string): string {
  return join(caches, sha256(workspacePath).slice(0, 32));
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Thrown when a link or a file that Croft did not make is found where a cache directory belongs. */
export class ForeignEntryError extends Error {
  override readonly name = 'ForeignEntryError';
}

/**
 * Makes the directory above all cache directories. Its mode is 0711: every owner may pass through it, and each cache
 * below it is closed to all but its own owner.
 */
export function makeCachesDirectory(path: string): void {
  closeSync(
    openOrMake(path, () => {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      makeIfMissing(path, 0o711);
    }),
  );
}

/** Makes or reuses a cache directory that only `owner` may use. Never follows a link. */
export function makeCacheDirectory(path: string, owner: Owner | undefined): void {
  const handle = openOrMake(path, () => makeIfMissing(path, 0o700));
  try {
    if (owner) fchownSync(handle, owner.uid, owner.gid);
    // A command of the owner may have opened the directory to other users.
    fchmodSync(handle, 0o700);
  } finally {
    closeSync(handle);
  }
}

/**
 * Opens the directory first, because it nearly always exists. If opening fails for any reason, `make` runs, and the
 * second attempt to open reports what is wrong.
 */
function openOrMake(path: string, make: () => void): number {
  try {
    return openWithoutFollowing(path);
  } catch {
    make();
    return openWithoutFollowing(path);
  }
}

function makeIfMissing(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (thrown) {
    if (codeOf(thrown) !== 'EEXIST') throw thrown;
  }
}

function openWithoutFollowing(path: string): number {
  try {
    return openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch (cause) {
    if (!['ELOOP', 'ENOTDIR'].includes(codeOf(cause))) throw cause;
    throw new ForeignEntryError(`${path} is a link or a file where a directory of caches belongs; remove it`, {
      cause,
    });
  }
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
}
