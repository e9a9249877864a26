import { withFiles } from '../core/project-tools/linter.ts';
import { defineTestRunner } from '../core/project-tools/test-runner.ts';
import { readJestReport } from '../core/readers/tests/read-jest-report.ts';
import {
  escapePattern,
  exactNamesPattern,
  filesOfFailures,
  selectableNames,
} from '../core/readers/tests/to-test-report.ts';

export const jest = defineTestRunner({
  name: 'jest',
  toArgv(argv, { files, named, name, again, reportFile }) {
    const wanted = again ? filesOfFailures(again) : files;
    const names = selectableNames(again);
    const pattern = names ? exactNamesPattern(names) : name === undefined || again ? undefined : escapePattern(name);
    return [
      ...withFiles(argv, wanted, named),
      // Without `--ci`, which makes a new snapshot a failure.
      ...['--json', `--outputFile=${reportFile}`, '--testLocationInResults'],
      // Without `--runTestsByPath` a file is a pattern, and `(app)/a.test.js` matches nothing.
      ...(wanted.length > 0 ? ['--runTestsByPath'] : []),
      ...(pattern === undefined ? [] : [`--testNamePattern=${pattern}`]),
    ];
  },
  read: readJestReport,
});
