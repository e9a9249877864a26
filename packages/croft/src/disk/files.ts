import type { Durability } from '../core/durability.ts';
import type { Files } from '../core/files.ts';
import { createKeyedLock, type KeyedLock } from '../lib/keyed-lock.ts';
import { fileError } from './errors.ts';
import { listDirectory } from './list.ts';
import { openForReading, readContent, readStat, readVersion } from './read.ts';
import { removeAt } from './remove.ts';
import { renameAt } from './rename.ts';
import type { WritableRoot } from './sync.ts';
import { createSweeper } from './temporary.ts';
import { modifiedTimes } from './times.ts';
import { createUploader } from './uploader.ts';
import { createWriter } from './writer.ts';

export interface DiskFilesOptions {
  /** The open root directory, for as long as the program runs. */
  readonly handle: number;
  /** Absolute names of the directory that callers and links may use. */
  readonly names: readonly string[];
  /** Shared by all who write to this directory under different names. Left out: there is nobody else. */
  readonly locks?: KeyedLock | undefined;
  /** Left out: strict. */
  readonly durability?: Durability | undefined;
}

/** `Files` on a disk of this machine. */
export function createDiskFiles(options: DiskFilesOptions): Files {
  const { handle, names, locks = createKeyedLock(), durability = 'strict' } = options;
  const root: WritableRoot = { handle, names, durability };
  const sweep = createSweeper();
  const writer = createWriter(root, locks, sweep);
  const uploader = createUploader(root, locks, sweep);

  return {
    stat: (path) => telling(path, async () => readStat(root, path)),
    read: (path, options) => telling(path, () => readContent(root, path, options?.maxBytes)),
    open: (path) => telling(path, async () => openForReading(root, path)),
    version: (path) => telling(path, () => readVersion(root, path)),
    list: (path, { limit }) => telling(path, () => listDirectory(root, path, limit)),
    remove: (path, options) => telling(path, () => removeAt(root, path, options)),
    rename: (from, to) => telling(from, () => renameAt(root, from, to)),
    modifiedTimes: async (paths) => modifiedTimes(root, paths),

    write: (path, bytes, options) => telling(path, () => writer.write(path, bytes, options)),
    change: (path, decide) => telling(path, () => writer.change(path, decide)),
    upload: (path, pieces, options) => telling(path, () => uploader.upload(path, pieces, options)),
  };
}

async function telling<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw fileError(thrown, path);
  }
}
