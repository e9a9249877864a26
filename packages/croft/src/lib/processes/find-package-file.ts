import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packageDirectory } from '../package-directory.ts';

/**
 * Finds a file of an npm package that Croft depends on. `packages` is the way to it: each is a dependency of the one
 * before. Returns `undefined` if it is not installed.
 */
export function findPackageFile(packages: readonly string[], file: string): string | undefined {
  let directory: string | undefined = packageDirectory;
  for (const name of packages) directory = directory === undefined ? undefined : findPackage(directory, name);
  const path = directory === undefined ? undefined : join(directory, file);
  return path !== undefined && existsSync(path) ? path : undefined;
}

/** Finds a package as Node does: in `node_modules` of each directory above. */
function findPackage(from: string, name: string): string | undefined {
  for (let directory = from; ; directory = dirname(directory)) {
    const path = join(directory, 'node_modules', name);
    if (existsSync(path)) return realpathSync(path);
    if (directory === dirname(directory)) return undefined;
  }
}
