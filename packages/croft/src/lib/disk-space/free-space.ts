import { statfsSync } from 'node:fs';

/** Milliseconds for which one `statfs` answer is reused. */
const freshMs = 50;

/**
 * Creates a function that returns the bytes that the disk of `directory` has free for all users. A disk that cannot be
 * queried counts as full.
 */
export function createFreeSpaceReader(directory: string): () => number {
  let [known, knownAt] = [0, Number.NEGATIVE_INFINITY];
  return () => {
    const now = performance.now();
    if (now - knownAt >= freshMs) [known, knownAt] = [readFreeBytes(directory), now];
    return known;
  };
}

/** Returns the free bytes of the disk now, 0 if the disk cannot be queried. */
export function readFreeBytes(directory: string): number {
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize;
  } catch {
    return 0;
  }
}
