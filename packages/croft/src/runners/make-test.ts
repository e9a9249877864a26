import { withFiles } from '../core/checks/linter.ts';
import { defineTestRunner } from '../core/checks/test-runner.ts';
import { readScript } from '../core/readers/read-script.ts';

/** A Makefile's `test` or `check`. It runs whole. */
export const makeTest = defineTestRunner({
  name: 'make-test',
  cannotPick: () => ['files', 'name'],
  toArgv: (argv) => withFiles(argv, []),
  read(output) {
    // "Nothing to be done" and "up to date" end well, without a test.
    const isIdle = /^make(?:\[\d{1,3}\])?: (?:Nothing to be done for|'[^'\n]{1,200}' is up to date)/m.test(
      output.stdout,
    );
    const report = readScript(output);
    return report.state === 'passed' && report.passed === null && isIdle ? { ...report, state: 'empty' } : report;
  },
});
