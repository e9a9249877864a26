import { withFiles } from '../core/checks/linter.ts';
import { defineTestRunner } from '../core/checks/test-runner.ts';
import { readJestReport } from '../core/readers/jest-report.ts';
import { anyOf, escapePattern, filesOf, namesOf } from '../core/readers/read-tests.ts';

export const jest = defineTestRunner({
  name: 'jest',
  toArgv(argv, { files, named, name, again, reportFile }) {
    const wanted = again ? filesOf(again) : files;
    const names = namesOf(again);
    const pattern = names ? anyOf(names) : name === undefined || again ? undefined : escapePattern(name);
    return [
      ...withFiles(argv, wanted, named),
      ...['--ci', '--json', `--outputFile=${reportFile}`, '--testLocationInResults'],
      // Otherwise a file is a pattern, and `(app)/a.test.js` matches nothing.
      ...(wanted.length > 0 ? ['--runTestsByPath'] : []),
      ...(pattern === undefined ? [] : [`--testNamePattern=${pattern}`]),
    ];
  },
  read: readJestReport,
});
