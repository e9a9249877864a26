import { cpSync } from 'node:fs';
import { join } from 'node:path';

const croft = join(import.meta.dirname, '../../packages/croft/src');

/** Copies the sources of Croft, without its tests, into a directory that is no repository. Returns the directory. */
export function copySources(directory: string): string {
  cpSync(croft, directory, { recursive: true, filter: (path) => !/\.test\.ts$|\/dist$/.test(path) });
  return directory;
}
