import { withFiles } from '../core/checks/linter.ts';
import { defineTestRunner } from '../core/checks/test-runner.ts';
import { readJestReport } from '../core/readers/jest-report.ts';
import { anyOf, escapePattern, filesOf, namesOf } from '../core/readers/read-tests.ts';

export const vitest = defineTestRunner({
  name: 'vitest',
  toArgv(argv, { files, named, name, again, reportFile }) {
    const names = namesOf(again);
    const pattern = names ? anyOf(names) : name === undefined || again ? undefined : escapePattern(name);
    // The report has a blank between the levels of a name, and some versions pick by names with an arrow there.
    const leveled = pattern?.replaceAll(' ', '( > | )');
    return [
      ...withFiles(argv, again ? filesOf(again) : files, named),
      ...['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`, '--includeTaskLocation'],
      ...(leveled === undefined ? [] : [`--testNamePattern=${leveled}`]),
    ];
  },
  read: readJestReport,
});
