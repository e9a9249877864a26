import { chmodSync, existsSync, statSync } from 'node:fs';
import { AppError } from '@croft/protocol';

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
