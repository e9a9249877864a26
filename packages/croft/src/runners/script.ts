import { withFiles } from '../core/checks/linter.ts';
import { defineTestRunner } from '../core/checks/test-runner.ts';
import { readScript } from '../core/readers/read-script.ts';

/** A script of the project's that is not known to be one of the others. It runs whole: nobody knows what it takes. */
export const script = defineTestRunner({
  name: 'script',
  cannotPick: (argv) => (argv.includes('$FILES') ? ['name'] : ['files', 'name']),
  toArgv: (argv, { files }) => withFiles(argv, files),
  read: readScript,
});
