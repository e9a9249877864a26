import { closeSync, existsSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates an empty database file with mode 0600; SQLite itself would make it readable for everybody. SQLite gives the
 * files beside the database the same mode. An existing file is never opened here, not even for a moment: closing any
 * descriptor of a file releases all POSIX locks that this process holds on it.
 */
export function makePrivateDatabase(file: string): void {
  const directory = dirname(file);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (existsSync(file)) return;
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (thrown) {
    // Another server has just created the file.
    if (!existsSync(file)) throw thrown;
  }
  const handle = openSync(directory, 'r');
  fsyncSync(handle);
  closeSync(handle);
}
