import { withFiles } from '../core/project-tools/linter.ts';
import { defineTestRunner } from '../core/project-tools/test-runner.ts';
import { readJunit } from '../core/readers/tests/read-junit.ts';
import { escapePattern, exactNamesPattern, selectableNames } from '../core/readers/tests/to-test-report.ts';
import type { JunitCase } from '../lib/reports/junit.ts';

export const ctest = defineTestRunner({
  name: 'ctest',
  cannotPick: () => ['files'],
  // Ctest runs the last build, which may be older than the last edit.
  before(argv) {
    const at = argv.indexOf('--test-dir');
    const directory = at < 0 ? undefined : argv[at + 1];
    if (directory === undefined) return [];
    return [
      ['cmake', '-S', '.', '-B', directory],
      ['cmake', '--build', directory],
    ];
  },
  toArgv(argv, { name, again, reportFile }) {
    const [program, ...rest] = withFiles(argv, []);
    const names = selectableNames(again);
    const pattern = names
      ? exactNamesPattern(names)
      : name === undefined || again
        ? undefined
        : `(${escapePattern(name)})`;
    const options = ['--output-on-failure', '--no-tests=ignore', '--output-junit', reportFile];
    return [program, ...rest, ...options, ...(pattern === undefined ? [] : ['-R', pattern])];
  },
  read: (output) => readJunit(output, { toName: ({ name }) => name, toFile }),
});

const maxSearched = 10_000;
const sourceLocation = /([^\s:()'"`]{1,200}\.(?:c|cc|cpp|cxx|h|hh|hpp|hxx)):\d{1,9}\b/;

/** The report names no files, but most failing tests print one, as `assert` does. */
function toFile({ output }: JunitCase): string | undefined {
  return output.slice(-maxSearched).match(sourceLocation)?.[1];
}
