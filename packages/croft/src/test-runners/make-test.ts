import { renderTestCommand } from '../core/checks/tests/render-test-command.ts';
import { withFiles } from '../core/project-tools/linter.ts';
import { type CheckOutput, defineTestRunner } from '../core/project-tools/test-runner.ts';
import { readScriptOutput } from '../core/readers/tests/read-script-output.ts';

/** The target `test` or `check` of a Makefile. It always runs all of its tests. */
export const makeTest = defineTestRunner({
  name: 'make-test',
  cannotPick: () => ['files', 'name'],
  whyAllTestsRerun: (_, argv) => `${renderTestCommand(withFiles(argv, []))} always runs all of its tests`,
  toArgv: (argv) => withFiles(argv, []),
  read(output) {
    const report = readScriptOutput(output);
    return report.state === 'passed' && report.passed === null && isIdle(output)
      ? { ...report, state: 'empty' }
      : report;
  },
});

/** "Nothing to be done" and "up to date" exit with 0, without a test. */
const idle = /^make(?:\[\d{1,3}\])?: (?:Nothing to be done for '([^'\n]{1,200})'|'([^'\n]{1,200})' is up to date)/;
const ofTests = /^(?:tests?|check(?:-[\w-]{1,50})?)$/;
const ofMake = /^\s*$|^Making |\bmake\b/;

/** Whether make had nothing to do for the tests, or printed nothing but its own idle messages. */
function isIdle({ stdout }: CheckOutput): boolean {
  const lines = stdout.split('\n');
  const targets = lines.flatMap((line) => idle.exec(line)?.slice(1).filter(Boolean) ?? []);
  return (
    targets.some((target) => ofTests.test(target)) || (targets.length > 0 && lines.every((one) => ofMake.test(one)))
  );
}
