import { defineLinter, withFiles, withOptions } from '../core/checks/linter.ts';
import { readCargo } from '../core/readers/read-cargo.ts';

export const clippy = defineLinter({
  name: 'clippy',
  scope: 'build',
  // It takes packages and no files.
  toArgv: (argv) => withOptions(withFiles(argv, []), '--message-format=json'),
  read: readCargo,
});
