import { withFiles } from '../core/project-tools/linter.ts';
import { defineTestRunner } from '../core/project-tools/test-runner.ts';
import { readJestReport } from '../core/readers/tests/read-jest-report.ts';
import {
  escapePattern,
  exactNamesPattern,
  filesOfFailures,
  selectableNames,
} from '../core/readers/tests/to-test-report.ts';

export const vitest = defineTestRunner({
  name: 'vitest',
  toArgv(argv, { files, named, name, again, reportFile }) {
    const names = selectableNames(again);
    const pattern = names ? exactNamesPattern(names) : name === undefined || again ? undefined : escapePattern(name);
    // The report has a blank between the levels of a name, and some versions match names with an arrow there. Before
    // version 2 there is a blank in front as well.
    const leveled = pattern?.replaceAll(' ', '( > | )').replace(/^\^/, '^ ?');
    return [
      ...withFiles(argv, again ? filesOfFailures(again) : files, named),
      // Uses no option of newer versions, because older ones do not start with it. The stack says where a test stopped.
      ...['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`],
      ...(leveled === undefined ? [] : [`--testNamePattern=${leveled}`]),
    ];
  },
  read: readJestReport,
});
