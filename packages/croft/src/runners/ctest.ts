import { withFiles } from '../core/checks/linter.ts';
import { defineTestRunner } from '../core/checks/test-runner.ts';
import { readJunit } from '../core/readers/read-junit.ts';
import { anyOf, escapePattern, namesOf } from '../core/readers/read-tests.ts';
import type { JunitCase } from '../lib/junit.ts';

export const ctest = defineTestRunner({
  name: 'ctest',
  cannotPick: () => ['files'],
  // It runs what was built last, which may be what was right before the last edit.
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
    const names = namesOf(again);
    const pattern = names ? anyOf(names) : name === undefined || again ? undefined : `(${escapePattern(name)})`;
    const options = ['--output-on-failure', '--no-tests=ignore', '--output-junit', reportFile];
    return [program, ...rest, ...options, ...(pattern === undefined ? [] : ['-R', pattern])];
  },
  read: (output) => readJunit(output, { toName: ({ name }) => name, toFile }),
});

const maxSearched = 10_000;
const place = /([^\s:()'"`]{1,200}\.(?:c|cc|cpp|cxx|h|hh|hpp|hxx)):\d{1,9}\b/;

/** The report has no files, but most that fail print where, as `assert` does. */
function toFile({ output }: JunitCase): string | undefined {
  return output.slice(-maxSearched).match(place)?.[1];
}
