import { posix } from 'node:path';

/** Converts files to Go package paths. Go tools take single files only by ignoring the others of the package. */
export function toGoPackages(files: readonly string[]): readonly string[] {
  return [...new Set(files.map(packageOf))];
}

function packageOf(file: string): string {
  const directory = file.endsWith('.go') ? posix.dirname(file) : posix.normalize(file).replace(/\/$/, '');
  return directory === '.' ? '.' : `./${directory}`;
}
