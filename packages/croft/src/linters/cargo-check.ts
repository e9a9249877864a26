import { defineLinter, withFiles, withOptions } from '../core/project-tools/linter.ts';
import { readCargo } from '../core/readers/lint/read-cargo.ts';

export const cargoCheck = defineLinter({
  name: 'cargo-check',
  scope: 'build',
  // Cargo takes packages, no files.
  toArgv: (argv) => withOptions(withFiles(argv, []), '--message-format=json'),
  read: readCargo,
});
