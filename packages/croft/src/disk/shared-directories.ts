import { closeSync } from 'node:fs';

/** More than that are not held at once. */
const maxShared = 64;

/** Directories that calls of the same turn share, by their path from the root, no link on it. */
export interface SharedDirectories {
  /** Good until the caller waits for anything. */
  get(path: string): number | undefined;
  /** Takes a handle over, to close it when the turn ends. Whether it did. */
  keep(path: string, directory: number): boolean;
}

/**
 * Calls that come together mostly ask for files that lie together, and walk the same way. They all were there before the
 * first of them walked it, so what it found is as true for the others; no call that comes later gets to see it, because
 * everything is closed as soon as the code that runs now comes to its end.
 */
export function createSharedDirectories(): SharedDirectories {
  const open = new Map<string, number>();
  return {
    get: (path) => open.get(path),
    keep(path, directory) {
      if (open.has(path) || open.size >= maxShared) return false;
      if (open.size === 0) queueMicrotask(closeAll);
      open.set(path, directory);
      return true;
    },
  };

  function closeAll(): void {
    const handles = [...open.values()];
    open.clear();
    for (const handle of handles) closeSync(handle);
  }
}
