import { closeSync, constants, openSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;

/** Returns a path to `name` in an open directory. Nobody can redirect it, because it goes through the descriptor. */
export function pathInDirectory(directoryFd: number, name: string | Buffer): Buffer {
  return Buffer.concat([Buffer.from(`/proc/self/fd/${directoryFd}/`), Buffer.from(name)]);
}

export function openDirectoryFd(path: string | Buffer): number {
  return openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

/**
 * Removes a name with everything below it, synchronously: for a process that is about to end. Works by open descriptors
 * as `removeTree` does, so that a link is removed and never followed.
 */
export function removeTreeSync(directoryFd: number, name: string | Buffer): void {
  const path = pathInDirectory(directoryFd, name);
  if (isUnlinked(path)) return;
  const own = openDirectoryFd(path);
  try {
    for (const child of readdirSync(`/proc/self/fd/${own}`, { encoding: 'buffer' })) removeTreeSync(own, child);
  } finally {
    closeSync(own);
  }
  rmdirSync(path);
}

function isUnlinked(path: Buffer): boolean {
  try {
    unlinkSync(path);
    return true;
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'ENOENT') return true;
    // The codes with which unlink rejects a directory.
    if (code === 'EISDIR' || code === 'EPERM') return false;
    throw thrown;
  }
}
