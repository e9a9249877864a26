import { renderTestCommand } from '../core/checks/tests/render-test-command.ts';
import { withFiles } from '../core/project-tools/linter.ts';
import { defineTestRunner } from '../core/project-tools/test-runner.ts';
import { readScriptOutput } from '../core/readers/tests/read-script-output.ts';

/**
 * A test script of the project with an unknown test runner. It always runs whole, because its arguments are unknown.
 */
export const script = defineTestRunner({
  name: 'script',
  cannotPick: (argv) => (argv.includes('$FILES') ? ['name'] : ['files', 'name']),
  whyAllTestsRerun: (_, argv) => `${renderTestCommand(withFiles(argv, []))} always runs all of its tests`,
  toArgv: (argv, { files }) => withFiles(argv, files),
  read: readScriptOutput,
});
