import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { packageDirectory } from '../package-directory.ts';

/** The path of the program `croft`, for other programs that start it: the launcher of the clone or of the package. */
export function findOwnProgram(): string {
  const ofClone = join(packageDirectory, 'bin/croft');
  return existsSync(ofClone) ? ofClone : join(packageDirectory, 'bin/croft.mjs');
}
