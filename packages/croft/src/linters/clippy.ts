import { defineLinter, withFiles, withOptions, withoutOptions } from '../core/project-tools/linter.ts';
import { readCargo } from '../core/readers/lint/read-cargo.ts';

const fixing = ['--fix', '--allow-dirty', '--allow-staged', '--allow-no-vcs', '--broken-code'];

export const clippy = defineLinter({
  name: 'clippy',
  scope: 'build',
  // Cargo takes packages, no files.
  toArgv: (argv) => withOptions(withoutOptions(withFiles(argv, []), fixing), '--message-format=json'),
  read: readCargo,
});
