import { withFiles } from '../core/project-tools/linter.ts';
import { defineTestRunner } from '../core/project-tools/test-runner.ts';
import { readJunit } from '../core/readers/tests/read-junit.ts';
import { filesOfFailures, selectableNames } from '../core/readers/tests/to-test-report.ts';
import type { JunitCase } from '../lib/reports/junit.ts';

export const pytest = defineTestRunner({
  name: 'pytest',
  toArgv: (argv, { files, name, again, reportFile }) => [
    ...withFiles(argv, again ? (selectableNames(again) ?? filesOfFailures(again)) : files),
    ...[`--junitxml=${reportFile}`, '-o', 'junit_family=xunit1'],
    ...(name === undefined || again ? [] : [`-k=${toExpression(name)}`]),
  ],
  read: (output) => readJunit(output, { toName: toNodeId, toId: toNodeId, isBuild: isCollection, toMessage }),
});

/** Builds `tests/test_a.py::TestClass::test_b[1]` from the file and from a class name that begins with the module's. */
function toNodeId({ name, className, file }: JunitCase): string {
  if (file === undefined) return [className, name].filter((part) => part !== '').join('.');
  const module = file.replace(/\.py$/, '').replaceAll('/', '.');
  const classes = className.startsWith(`${module}.`) ? className.slice(module.length + 1).split('.') : [];
  return [file, ...classes, name].join('::');
}

/** Whether an entry is a file that could not be imported: the report lists it as a test without a class. */
function isCollection({ state, message, className }: JunitCase): boolean {
  return state === 'error' && (className === '' || message === 'collection failure');
}

/** Returns the error of a file that could not be imported, which follows an `E` in the text. */
function toMessage(test: JunitCase): string | undefined {
  return isCollection(test) ? test.text.match(/^E {3}(\S.{0,500})$/m)?.[1] : undefined;
}

/** Builds a `-k` expression: it accepts only words, so other characters in a name separate them. */
function toExpression(name: string): string {
  const words = name.split(/[^\w:+\-.[\]\\/]+/).filter((word) => word !== '' && !/^(?:and|or|not)$/.test(word));
  return words.join(' and ');
}
