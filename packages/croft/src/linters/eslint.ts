import { defineLinter, withFiles, withOptions, withoutOptions } from '../core/project-tools/linter.ts';
import { readEslint } from '../core/readers/lint/read-eslint.ts';

export const eslint = defineLinter({
  name: 'eslint',
  scope: 'files',
  // Only options on the command line make eslint change files.
  toArgv: (argv, files) =>
    withOptions(
      withoutOptions(withFiles(argv, files, ['.']), ['--fix', '--fix-dry-run'], ['--fix-type']),
      '--format=json',
    ),
  read: readEslint,
});
