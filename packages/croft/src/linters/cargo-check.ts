import { defineLinter, withFiles, withOptions } from '../core/checks/linter.ts';
import { readCargo } from '../core/readers/read-cargo.ts';

export const cargoCheck = defineLinter({
  name: 'cargo-check',
  scope: 'build',
  // It takes packages and no files.
  toArgv: (argv) => withOptions(withFiles(argv, []), '--message-format=json'),
  read: readCargo,
});
