import type { Files } from '../core/files/files.ts';
import type { Durability } from '../core/storage/durability.ts';
import { createKeyedLock, type KeyedLock } from '../lib/concurrency/keyed-lock.ts';
import { removeEntry } from './change/remove-entry.ts';
import { renameEntry } from './change/rename-entry.ts';
import { createUploader } from './change/uploader.ts';
import { createWriter } from './change/writer.ts';
import { findApprovableControlFiles } from './control-files/find-approvable-control-files.ts';
import { serializeGitChanges } from './control-files/serialize-git-changes.ts';
import type { WritableRoot } from './durable/sync-directory.ts';
import { createSweeper } from './durable/temporary-file-names.ts';
import { fileError } from './paths/file-errors.ts';
import { listDirectory } from './read/list-directory.ts';
import { modifiedTimes } from './read/modified-times.ts';
import { openForReading, readContent, readStat, readVersion } from './read/read-content.ts';

export interface DiskFilesOptions {
  /** Handle of the root directory. It stays open while the program runs. */
  readonly handle: number;
  /** Absolute paths of the root that callers and links may use. */
  readonly names: readonly string[];
  /** Shared by all writers that opened this directory under different names. Defaults to a new lock. */
  readonly locks?: KeyedLock | undefined;
  /** Defaults to `strict`. */
  readonly durability?: Durability | undefined;
  /** Names of control files that the operator allows to be changed. Defaults to none. */
  readonly allowControl?: readonly string[] | undefined;
}

/** Implements `Files` on a disk of this machine. */
export function createDiskFiles(options: DiskFilesOptions): Files {
  const { handle, names, locks = createKeyedLock(), durability = 'strict', allowControl } = options;
  const root: WritableRoot = { handle, names, durability, allowControl };
  const sweep = createSweeper();
  const writer = createWriter(root, locks, sweep);
  const uploader = createUploader(root, locks, sweep);

  return {
    stat: (path) => withFileErrors(path, async () => readStat(root, path)),
    read: (path, options) => withFileErrors(path, () => readContent(root, path, options?.maxBytes)),
    open: (path) => withFileErrors(path, async () => openForReading(root, path)),
    version: (path) => withFileErrors(path, () => readVersion(root, path)),
    list: (path, { limit }) => withFileErrors(path, () => listDirectory(root, path, limit)),
    remove: (path, options) => withFileErrors(path, () => removeEntry(root, path, options)),
    rename: (from, to, options) =>
      withFileErrors(from, () => serializeGitChanges(root, [to], () => renameEntry(root, from, to, options))),
    controlFiles: (paths, allow) => findApprovableControlFiles(root, paths, allow),
    modifiedTimes: async (paths) => modifiedTimes(root, paths),

    write: (path, bytes, options) =>
      withFileErrors(path, () => serializeGitChanges(root, [path], () => writer.write(path, bytes, options))),
    change: (path, decide, options) =>
      withFileErrors(path, () => serializeGitChanges(root, [path], () => writer.change(path, decide, options))),
    upload: (path, pieces, options) => withFileErrors(path, () => uploader.upload(path, pieces, options)),
  };
}

async function withFileErrors<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw fileError(thrown, path);
  }
}
