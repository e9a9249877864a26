import { chmodSync, closeSync, existsSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { AppError } from '@croft/protocol';

/**
 * SQLite would make it for everybody to read. One that is there is not opened, not even for a moment: whatever of this
 * process has locks on a file loses them when any handle of it is closed.
 */
export function makeFile(file: string): void {
  const directory = dirname(file);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (existsSync(file)) return;
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (thrown) {
    // Another server was faster.
    if (!existsSync(file)) throw thrown;
  }
  const handle = openSync(directory, 'r');
  fsyncSync(handle);
  closeSync(handle);
}

/** What it keeps is for nobody else's eyes, whoever made the files. New ones beside it get the mode of the file. */
export function closeToOthers(file: string): void {
  for (const each of [file, `${file}-wal`, `${file}-shm`].filter(existsSync)) chmodSync(each, 0o600);
}

/**
 * Throws when the path leads elsewhere by now. SQLite would go on writing to a file that no path leads to, and all of
 * it would be gone at the next start.
 */
export function watchPlace(file: string): () => void {
  const identify = () => {
    const found = statSync(file, { throwIfNoEntry: false });
    return found && `${found.dev}:${found.ino}`;
  };
  const identity = identify();
  return () => {
    if (identify() === identity) return;
    throw new AppError(
      'E_STORAGE_FAILED',
      'the database file was moved, deleted or replaced while croft runs, so that nothing can be kept; put it back, ' +
        'or start croft again if the one that is there now is right',
    );
  };
}
