import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/** Fixed system directories, never relative ones and never PATH: otherwise a workspace could supply its own program. */
const directories = ['/usr/bin', '/usr/local/bin', '/bin', '/usr/sbin', '/run/current-system/sw/bin'];

/** Returns the absolute path of a system program, or `undefined` if it is not installed. */
export function findProgram(name: string): string | undefined {
  return directories.map((directory) => join(directory, name)).find(isExecutable);
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
