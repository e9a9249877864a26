import { closeSync, fsync } from 'node:fs';
import { promisify } from 'node:util';
import type { Durability } from '../../core/storage/durability.ts';
import type { GuardedRoot } from '../control-files/control-file-guard.ts';
import { reopenDirectory } from '../paths/handles.ts';

const sync = promisify(fsync);

/** A root directory whose files are changed. */
export interface WritableRoot extends GuardedRoot {
  readonly durability: Durability;
}

/** Syncs a file, and runs `meanwhile` while the sync is under way. */
export async function syncWhile<T>(handle: number, meanwhile: () => T): Promise<T> {
  const synced = sync(handle);
  try {
    return meanwhile();
  } finally {
    await synced;
  }
}

/** A directory that is synced after its names changed. */
interface SyncedDirectory extends Disposable {
  /** Opens the directory early, while there is time to. */
  open(): void;
  sync(): Promise<void>;
}

export function directoryToSync(pathFd: number): SyncedDirectory {
  let handle: number | undefined;
  const open = (): number => (handle ??= reopenDirectory(pathFd));
  return {
    open,
    sync: () => sync(open()),
    [Symbol.dispose]() {
      if (handle !== undefined) closeSync(handle);
    },
  };
}

/**
 * Opens the directory to sync at once: a directory that cannot be read cannot be synced, and then nothing in it may be
 * changed.
 */
export function openToSync(pathFd: number, durability: Durability): SyncedDirectory {
  const directory = directoryToSync(pathFd);
  if (durability === 'relaxed') return { ...directory, sync: async () => {} };
  directory.open();
  return directory;
}
