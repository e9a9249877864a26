import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/** Never a relative directory or one from PATH: a workspace must not be able to offer its own. */
const directories = ['/usr/bin', '/usr/local/bin', '/bin', '/usr/sbin', '/run/current-system/sw/bin'];

/** The absolute path of a program of the system, if it has it. */
export function findProgram(name: string): string | undefined {
  return directories.map((directory) => join(directory, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
