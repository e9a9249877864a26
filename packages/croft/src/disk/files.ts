import { AppError } from '@croft/protocol';
import type { Files } from '../core/files.ts';
import { toSegments } from '../core/path.ts';
import { createKeyedLock } from '../lib/keyed-lock.ts';
import { fileError } from './errors.ts';
import { mustBeFree } from './held.ts';
import { listDirectory } from './list.ts';
import { openForReading, readContent, readStat, readVersion } from './read.ts';
import { removeAt } from './remove.ts';
import { renameAt } from './rename.ts';
import { createSharedDirectories } from './shared-directories.ts';
import { createSweeper } from './temporary.ts';
import { modifiedTimes } from './times.ts';
import { type Root, walk } from './walk.ts';
import { replaceFile } from './write.ts';

export interface DiskFilesOptions {
  /** The open root directory, for as long as the program runs. */
  readonly handle: number;
  /** Absolute names of the directory that callers and links may use. */
  readonly names: readonly string[];
}

/** `Files` on a disk of this machine. */
export function createDiskFiles(options: DiskFilesOptions): Files {
  const root: Root = { ...options, shared: createSharedDirectories() };
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
        // As it is written, before a directory is made for it, and where it really leads.
        const written = toSegments(path, root.names).join('/');
        mustBeFree(root, written);
        using spot = walk(root, path, { follow: true, create: true });
        if (spot.path !== written) mustBeFree(root, spot.path);
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
