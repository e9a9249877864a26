import { withFiles } from '../core/linter.ts';
import { readScript } from '../core/read-script.ts';
import { defineTestRunner } from '../core/test-runner.ts';

/** A script of the project's that is not known to be one of the others. It runs whole: nobody knows what it takes. */
export const script = defineTestRunner({
  name: 'script',
  toArgv: (argv, { files }) => withFiles(argv, files),
  read: readScript,
});
