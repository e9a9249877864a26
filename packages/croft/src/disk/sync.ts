import { closeSync, fsync } from 'node:fs';
import { promisify } from 'node:util';
import type { Durability } from '../core/durability.ts';
import { reopenDirectory } from './handles.ts';
import type { Root } from './walk.ts';

const sync = promisify(fsync);

/** One whose files are changed. */
export interface WritableRoot extends Root {
  readonly durability: Durability;
}

/** Makes a file durable, and does something else until that is done. */
export async function syncWhile<T>(handle: number, meanwhile: () => T): Promise<T> {
  const synced = sync(handle);
  try {
    return meanwhile();
  } finally {
    await synced;
  }
}

/** A directory whose names are to be made durable. */
export interface SyncedDirectory extends Disposable {
  /** Gets ready, for when there is time to. */
  open(): void;
  sync(): Promise<void>;
}

export function directoryToSync(place: number): SyncedDirectory {
  let handle: number | undefined;
  const open = (): number => (handle ??= reopenDirectory(place));
  return {
    open,
    sync: () => sync(open()),
    [Symbol.dispose]() {
      if (handle !== undefined) closeSync(handle);
    },
  };
}

/** The same, open already: one that cannot be read cannot be synced, and then nothing in it is to be changed. */
export function openToSync(place: number, durability: Durability): SyncedDirectory {
  const directory = directoryToSync(place);
  if (durability === 'relaxed') return { ...directory, sync: async () => {} };
  directory.open();
  return directory;
}
