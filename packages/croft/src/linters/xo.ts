import { defineLinter, withFiles, withOptions, withoutOptions } from '../core/project-tools/linter.ts';
import type { CheckOutput } from '../core/project-tools/test-runner.ts';
import { readEslint } from '../core/readers/lint/read-eslint.ts';

/** A command line with its own rules around eslint, with eslint's output. */
export const xo = defineLinter({
  name: 'xo',
  scope: 'files',
  toArgv: (argv, files) =>
    withOptions(withoutOptions(withFiles(argv, files), ['--fix', '--fix-dry-run', '--open']), '--reporter=json'),
  read: (output) => (isQuiet(output) ? { state: 'clean', findings: [] } : readEslint(output)),
});

/** Before version 1, xo prints nothing if all is well. */
function isQuiet({ stdout, stderr, exitCode }: CheckOutput): boolean {
  return exitCode === 0 && stdout.trim() === '' && stderr.trim() === '';
}
