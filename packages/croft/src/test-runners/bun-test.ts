import { withFiles } from '../core/project-tools/linter.ts';
import { defineTestRunner } from '../core/project-tools/test-runner.ts';
import { readJunit } from '../core/readers/tests/read-junit.ts';
import {
  escapePattern,
  exactNamesPattern,
  filesOfFailures,
  selectableNames,
} from '../core/readers/tests/to-test-report.ts';
import type { JunitCase } from '../lib/reports/junit.ts';

export const bunTest = defineTestRunner({
  name: 'bun-test',
  toArgv(argv, { files, named, name, again, reportFile }) {
    const names = selectableNames(again);
    const pattern = names ? exactNamesPattern(names) : name === undefined || again ? undefined : escapePattern(name);
    return [
      ...withFiles(argv, (again ? filesOfFailures(again) : files).map(toPath), named),
      ...['--reporter=junit', `--reporter-outfile=${reportFile}`],
      ...(pattern === undefined ? [] : [`--test-name-pattern=${pattern}`]),
    ];
  },
  read: (output) => readJunit(output, { toName }),
});

/** Makes a file a path: bun takes anything else for a part of a file name. */
function toPath(file: string): string {
  return file.startsWith('/') || file.startsWith('./') ? file : `./${file}`;
}

function toName({ className, name }: JunitCase): string {
  return [...className.split(' > ').filter((part) => part !== ''), name].join(' ');
}
