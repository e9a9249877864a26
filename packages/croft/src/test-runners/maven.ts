import { withFiles } from '../core/project-tools/linter.ts';
import { defineTestRunner, type TestRequest } from '../core/project-tools/test-runner.ts';
import { toJvmClass, toJvmFile } from '../core/readers/tests/jvm-test-files.ts';
import { readJunit } from '../core/readers/tests/read-junit.ts';
import { selectableNames, unique } from '../core/readers/tests/to-test-report.ts';
import type { JunitCase } from '../lib/reports/junit.ts';

export const maven = defineTestRunner({
  name: 'maven',
  cannotPick: () => [],
  reports: { directory: 'target/surefire-reports', suffix: '.xml' },
  toArgv(argv, request) {
    const [program, ...rest] = withFiles(argv, []);
    const chosen = toSelection(request);
    return [
      program,
      ...rest,
      // Tests all modules, even after one failed; modules without the selected tests do not fail.
      ...['-Dstyle.color=never', '--fail-at-end'],
      ...(chosen === ''
        ? []
        : [`-Dtest=${chosen}`, '-DfailIfNoTests=false', '-Dsurefire.failIfNoSpecifiedTests=false']),
    ];
  },
  read: (output) => readJunit(output, { toName: toTestName, toId: toTestName, toFile: toJvmFile }),
});

const toTestName = ({ className, name }: JunitCase) => `${className}#${name}`;

/** Builds a selection such as `A#one+two,B`. Comma and plus are syntax, so a name with them selects its whole class. */
function toSelection({ files, name, again }: TestRequest): string {
  const names = selectableNames(again);
  if (again) return (names ?? []).map(toExact).join(',');
  const classes = unique(files.map(toJvmClass));
  if (name === undefined) return classes.join(',');
  const method = `*${name.replace(/[^\w$]+/g, '*')}*`;
  return (classes.length > 0 ? classes : ['*']).map((one) => `${one}#${method}`).join(',');
}

function toExact(id: string): string {
  const [className = '', method = ''] = id.split('#');
  // The name of a parameterized test is `method(int)[1]` or `method{int}[1]`; Surefire selects by method.
  const plain = method.match(/^[\w$]+/)?.[0];
  return plain === undefined ? className : `${className}#${plain}*`.replace(/\*$/, plain === method ? '' : '*');
}
