import { posix } from 'node:path';

/** The directories of files, as Go names packages of a module. It takes no single files without losing the others. */
export function toGoPackages(files: readonly string[]): readonly string[] {
  return [...new Set(files.map(packageOf))];
}

function packageOf(file: string): string {
  const directory = file.endsWith('.go') ? posix.dirname(file) : posix.normalize(file).replace(/\/$/, '');
  return directory === '.' ? '.' : `./${directory}`;
}
