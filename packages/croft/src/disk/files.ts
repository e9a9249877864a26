import { lstatSync } from 'node:fs';
import { dirname } from 'node:path/posix';
import { AppError } from '@croft/protocol';
import type { Files } from '../core/files.ts';
import { createKeyedLock } from '../lib/keyed-lock.ts';
import { fileError } from './errors.ts';
import { at } from './handles.ts';
import { listDirectory } from './list.ts';
import { openForReading, readContent, readStat, readVersion } from './read.ts';
import { removeAt } from './remove.ts';
import { renameAt } from './rename.ts';
import { createSweeper } from './temporary.ts';
import { type Root, walk } from './walk.ts';
import { replaceFile } from './write.ts';

export interface DiskFilesOptions {
  /** The open root directory, for as long as the program runs. */
  readonly handle: number;
  /** Absolute names of the directory that callers and links may use. */
  readonly names: readonly string[];
}

/** `Files` on a disk of this machine. */
export function createDiskFiles(root: DiskFilesOptions): Files {
  const locks = createKeyedLock();
  const sweep = createSweeper();

  return {
    stat: (path) => telling(path, async () => readStat(root, path)),
    read: (path, options) => telling(path, () => readContent(root, path, options?.maxBytes)),
    open: (path) => telling(path, async () => openForReading(root, path)),
    version: (path) => telling(path, () => readVersion(root, path)),
    list: (path, { limit }) => telling(path, () => listDirectory(root, path, limit)),
    remove: (path, options) => telling(path, () => removeAt(root, path, options)),
    rename: (from, to) => telling(from, () => renameAt(root, from, to)),
    modifiedTimes: (paths) => modifiedTimes(root, paths),

    write: (path, bytes, { expect } = {}) =>
      telling(path, async () => {
        if (path.endsWith('/')) throw refuseDirectory(root, path);
        using spot = walk(root, path, { follow: true, create: true });
        sweep(spot.directory);
        return await locks.run(spot.path, () => replaceFile({ spot, bytes, expect, path }));
      }),
  };
}

/** Says what is wrong with the path itself first. */
function refuseDirectory(root: Root, path: string): AppError {
  using _ = walk(root, path, { follow: true });
  return new AppError('E_NOT_A_FILE', `path names a directory: ${path}`, { details: { path } });
}

async function telling<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw fileError(thrown, path);
  }
}

/** Walks to each directory once: the paths of one search mostly share theirs. */
function modifiedTimes(root: Root, paths: readonly string[]): number[] {
  const times = new Map<string, number>();
  for (const [directory, below] of Map.groupBy(paths, (path) => dirname(path))) {
    for (const path of below) times.set(path, 0);
    try {
      using spot = walk(root, directory, { follow: false });
      const handle = spot.found?.handle;
      if (handle === undefined) continue;
      for (const path of below) {
        const name = path.slice(path.lastIndexOf('/') + 1);
        times.set(path, lstatSync(at(handle, name), { throwIfNoEntry: false })?.mtimeMs ?? 0);
      }
    } catch {
      // Moved or swapped while it was searched: an order is not worth failing for.
    }
  }
  return paths.map((path) => times.get(path) ?? 0);
}
