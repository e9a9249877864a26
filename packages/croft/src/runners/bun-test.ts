import { withFiles } from '../core/checks/linter.ts';
import { defineTestRunner } from '../core/checks/test-runner.ts';
import { readJunit } from '../core/readers/read-junit.ts';
import { anyOf, escapePattern, filesOf, namesOf } from '../core/readers/read-tests.ts';
import type { JunitCase } from '../lib/junit.ts';

export const bunTest = defineTestRunner({
  name: 'bun-test',
  toArgv(argv, { files, named, name, again, reportFile }) {
    const names = namesOf(again);
    const pattern = names ? anyOf(names) : name === undefined || again ? undefined : escapePattern(name);
    return [
      ...withFiles(argv, (again ? filesOf(again) : files).map(toPath), named),
      ...['--reporter=junit', `--reporter-outfile=${reportFile}`],
      ...(pattern === undefined ? [] : [`--test-name-pattern=${pattern}`]),
    ];
  },
  read: (output) => readJunit(output, { toName }),
});

/** Anything else is a part of a name for it. */
function toPath(file: string): string {
  return file.startsWith('/') || file.startsWith('./') ? file : `./${file}`;
}

function toName({ className, name }: JunitCase): string {
  return [...className.split(' > ').filter((part) => part !== ''), name].join(' ');
}
