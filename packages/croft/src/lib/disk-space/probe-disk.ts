import { constants } from 'node:fs';
import { open, statfs, unlink } from 'node:fs/promises';
import { join } from 'node:path';

const megabyte = 1024 * 1024;
/**
 * Fewer free inodes than this count as a full disk: SQLite makes a few files beside a database, and every file change
 * makes a temporary file.
 */
const minFreeFiles = 100;
const name = 'ready-probe';

/**
 * Returns why the data directory cannot take more data, or `undefined` if it can. Writes a small file there and removes
 * it again.
 */
export async function probeDisk(directory: string, minFreeBytes: number): Promise<string | undefined> {
  const { bavail, bsize, files, ffree } = await statfs(directory);
  const free = bavail * bsize;
  if (free < minFreeBytes)
    return `the disk of the data directory has ${inMegabytes(free)} MB free, which is too little`;
  // Filesystems without a fixed number of inodes report 0.
  if (files > 0 && ffree < minFreeFiles) return `the disk of the data directory has room for ${ffree} more files`;
  return tryWriting(join(directory, name));
}

async function tryWriting(path: string): Promise<string | undefined> {
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants;
  try {
    const file = await open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600);
    await file.write('croft\n').finally(() => file.close());
    await unlink(path);
    return undefined;
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : 'unknown';
    return `the data directory cannot be written (${code})`;
  }
}

function inMegabytes(bytes: number): number {
  return Math.floor(bytes / megabyte);
}
