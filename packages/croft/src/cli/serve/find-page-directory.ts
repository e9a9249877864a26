import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { packageDirectory } from '../../lib/package-directory.ts';

/**
 * Returns the directory of the built page: beside this package in a clone, inside it when installed. A directory beside
 * an installed package may belong to another package.
 */
export function findPageDirectory(): string {
  const isClone = existsSync(join(packageDirectory, 'src'));
  return join(packageDirectory, isClone ? '../dashboard/dist' : 'page');
}

/** The directory with the built documentation, found in the same way. */
export function findDocsDirectory(): string {
  const isClone = existsSync(join(packageDirectory, 'src'));
  return join(packageDirectory, isClone ? '../../docs/dist' : 'docs');
}
