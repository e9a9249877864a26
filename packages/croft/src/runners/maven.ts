import { withFiles } from '../core/checks/linter.ts';
import { defineTestRunner, type TestRequest } from '../core/checks/test-runner.ts';
import { toJvmClass, toJvmFile } from '../core/readers/jvm-tests.ts';
import { readJunit } from '../core/readers/read-junit.ts';
import { namesOf, unique } from '../core/readers/read-tests.ts';
import type { JunitCase } from '../lib/junit.ts';

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
      // All modules are tested, also after one that failed, and those that have none of the chosen tests do not mind.
      ...['-Dstyle.color=never', '--fail-at-end'],
      ...(chosen === ''
        ? []
        : [`-Dtest=${chosen}`, '-DfailIfNoTests=false', '-Dsurefire.failIfNoSpecifiedTests=false']),
    ];
  },
  read: (output) => readJunit(output, { toName: toTestName, toId: toTestName, toFile: toJvmFile }),
});

const toTestName = ({ className, name }: JunitCase) => `${className}#${name}`;

/** `A#one+two,B`: a comma and a plus are its syntax, so that names with them are left to their class. */
function toSelection({ files, name, again }: TestRequest): string {
  const names = namesOf(again);
  if (again) return (names ?? []).map(toExact).join(',');
  const classes = unique(files.map(toJvmClass));
  if (name === undefined) return classes.join(',');
  const method = `*${name.replace(/[^\w$]+/g, '*')}*`;
  return (classes.length > 0 ? classes : ['*']).map((one) => `${one}#${method}`).join(',');
}

function toExact(id: string): string {
  const [className = '', method = ''] = id.split('#');
  // A parameterized test is named `method(int)[1]` or `method{int}[1]`; Surefire picks by the method.
  const plain = method.match(/^[\w$]+/)?.[0];
  return plain === undefined ? className : `${className}#${plain}*`.replace(/\*$/, plain === method ? '' : '*');
}
