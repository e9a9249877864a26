import { withFiles } from '../core/checks/linter.ts';
import { defineTestRunner } from '../core/checks/test-runner.ts';
import { readJunit } from '../core/readers/read-junit.ts';
import { filesOf, namesOf } from '../core/readers/read-tests.ts';
import type { JunitCase } from '../lib/junit.ts';

export const pytest = defineTestRunner({
  name: 'pytest',
  toArgv: (argv, { files, name, again, reportFile }) => [
    ...withFiles(argv, again ? (namesOf(again) ?? filesOf(again)) : files),
    ...[`--junitxml=${reportFile}`, '-o', 'junit_family=xunit1'],
    ...(name === undefined || again ? [] : [`-k=${toExpression(name)}`]),
  ],
  read: (output) => readJunit(output, { toName: toNodeId, toId: toNodeId, isBuild: isCollection, toMessage }),
});

/** `tests/test_a.py::TestClass::test_b[1]`, from the file and a class name that begins with the module's. */
function toNodeId({ name, className, file }: JunitCase): string {
  if (file === undefined) return [className, name].filter((part) => part !== '').join('.');
  const module = file.replace(/\.py$/, '').replaceAll('/', '.');
  const classes = className.startsWith(`${module}.`) ? className.slice(module.length + 1).split('.') : [];
  return [file, ...classes, name].join('::');
}

/** A file that could not be imported stands in the report as a test without a class. */
function isCollection({ state, message, className }: JunitCase): boolean {
  return state === 'error' && (className === '' || message === 'collection failure');
}

/** What is said of a file that could not be imported is in the text, after an `E`. */
function toMessage(test: JunitCase): string | undefined {
  return isCollection(test) ? test.text.match(/^E {3}(\S.{0,500})$/m)?.[1] : undefined;
}

/** Its expressions know only words; anything else in a name stands between them. */
function toExpression(name: string): string {
  const words = name.split(/[^\w:+\-.[\]\\/]+/).filter((word) => word !== '' && !/^(?:and|or|not)$/.test(word));
  return words.join(' and ');
}
