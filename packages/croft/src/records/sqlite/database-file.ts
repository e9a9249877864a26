import { chmodSync, existsSync, statSync } from 'node:fs';
import { AppError } from '@croft/protocol';

/**
 * Makes the database files readable by their owner only, whoever created them. SQLite gives new files beside the
 * database the database's mode.
 */
export function makePrivate(file: string): void {
  for (const each of [file, `${file}-wal`, `${file}-shm`].filter(existsSync)) chmodSync(each, 0o600);
}

/**
 * Returns a function that throws if the path no longer leads to the opened file. SQLite would go on writing to a file
 * without a path, and all of it would be lost at the next start.
 */
export function watchDatabaseFile(file: string): () => void {
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
