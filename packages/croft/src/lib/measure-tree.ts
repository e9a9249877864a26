import type { Dirent } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';

/** Larger trees are too large by any measure: what is behind so many must not go uncounted. */
const mostEntries = 5_000_000;
/** Also of an empty file: a disk has only so many. */
const leastBytes = 4096;

/** How many bytes of a disk a directory and all in it take. Links are not followed; what goes away meanwhile is nothing. */
export async function measureTree(directory: string, maxEntries = mostEntries): Promise<number> {
  const waiting = [directory];
  let [bytes, entries] = [0, 0];
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
    // Gone, or not ours to look into.
  }
}

async function sizeOf(path: string): Promise<number> {
  const stats = await lstat(path).catch(() => undefined);
  // A file with two names is counted by half for each.
  return stats ? Math.max(leastBytes, stats.blocks * 512) / Math.max(1, stats.isDirectory() ? 1 : stats.nlink) : 0;
}
