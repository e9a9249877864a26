import { closeSync, existsSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * SQLite would make it for everybody to read. What comes beside it gets its mode. One that is there is not opened, not even for a moment: whatever of this
 * process has locks on a file loses them when any handle of it is closed.
 */
export function makeOwnDatabase(file: string): void {
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
