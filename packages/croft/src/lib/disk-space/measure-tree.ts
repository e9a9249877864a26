import type { Dirent } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';

/** A tree with more entries counts as infinitely large, so that its uncounted part is never taken for free. */
const mostEntries = 5_000_000;
/** Counted for every entry at least, also for an empty file, because inodes are limited too. */
const leastBytes = 4096;

/**
 * Returns the disk usage in bytes of a file, or of a directory with everything in it. Does not follow links. Entries
 * that vanish meanwhile count as 0.
 */
export async function measureTree(directory: string, maxEntries = mostEntries): Promise<number> {
  const waiting = [directory];
  let [bytes, entries] = [await sizeOfFile(directory), 0];
  for (let current = waiting.pop(); current !== undefined; current = waiting.pop()) {
    for await (const entry of list(current)) {
      entries += 1;
      if (entries > maxEntries) return Number.POSITIVE_INFINITY;
      const path = join(current, entry.name);
      bytes += await sizeOf(path);
      if (entry.isDirectory()) waiting.push(path);
    }
  }
  return bytes;
}

async function* list(directory: string): AsyncGenerator<Dirent> {
  try {
    yield* await opendir(directory, { bufferSize: 256 });
  } catch {
    // The directory is gone, or unreadable for this user.
  }
}

/** Returns 0 for a directory: only its contents count. */
async function sizeOfFile(path: string): Promise<number> {
  const stats = await lstat(path).catch(() => undefined);
  return stats?.isFile() ? sizeOf(path) : 0;
}

async function sizeOf(path: string): Promise<number> {
  const stats = await lstat(path).catch(() => undefined);
  // Each hard link counts its share: a file with two names counts half for each.
  return stats ? Math.max(leastBytes, stats.blocks * 512) / Math.max(1, stats.isDirectory() ? 1 : stats.nlink) : 0;
}
