import { withFiles } from '../core/checks/linter.ts';
import { defineTestRunner, type TestFailure } from '../core/checks/test-runner.ts';
import type { Argv } from '../core/projects/profile.ts';
import { readJunit } from '../core/readers/read-junit.ts';
import { anyOf, escapePattern, filesOf, namesOf } from '../core/readers/read-tests.ts';
import type { JunitCase } from '../lib/junit.ts';

export const nodeTest = defineTestRunner({
  name: 'node-test',
  // Patterns since version 21.
  takesOnlyFiles: true,
  toArgv(argv, { files, named, name, again, reportFile }) {
    // Since Node 22 a test is picked by its whole name, before by its own.
    const names = namesOf(again) && again?.flatMap((one) => [one.name, one.id ?? one.name]);
    const pattern = names ? anyOf(names) : name === undefined || again ? undefined : escapePattern(name);
    const options = [
      ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
      ...['--test-reporter=junit', `--test-reporter-destination=${reportFile}`],
      ...(pattern === undefined ? [] : [`--test-name-pattern=${pattern}`]),
    ];
    return insertAfter(withFiles(argv, again ? filesOfAll(again) : files, named), '--test', options);
  },
  read: (output) =>
    readJunit(output, {
      toName: (test) => (isFile(test) ? fileOf(test) : [...test.suites, test.name].join(' ')),
      toId: ({ suites, name }) => (suites.length > 0 ? name : undefined),
      // A file without a test in it, or without one that was asked for, counts as a test that passed.
      isTest: (test) => test.state !== 'passed' || !isFile(test),
      toFile: (test) => (isFile(test) ? test.name : findTestFile(test.text)),
      isBuild: isFile,
      isTextStack: true,
    }),
});

const place = /(?:file:\/\/|\()(\/[^\s:()]{1,500}):\d{1,9}:\d{1,9}/g;

/** The report has no file before Node 22; a stack does. It begins with what the test called, and ends with the test. */
function findTestFile(stack: string): string | undefined {
  const paths = [...stack.matchAll(place)].map(([, path = '']) => path);
  return paths.findLast((path) => !path.includes('/node_modules/'));
}

function isFile({ name, file, suites }: JunitCase): boolean {
  if (suites.length > 0) return false;
  return file === undefined ? /^\/.{0,1000}\.[cm]?[jt]sx?$/.test(name) : file.endsWith(name);
}

function fileOf({ name }: JunitCase): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

/** All files if it is not known of each test in which it is. */
function filesOfAll(again: readonly TestFailure[]): string[] {
  return again.every(({ file }) => file !== undefined) ? filesOf(again) : [];
}

/** Node takes options for itself only before the first file. */
function insertAfter([program, ...rest]: Argv, option: string, added: readonly string[]): Argv {
  const at = rest.indexOf(option) + 1;
  return [program, ...rest.slice(0, at), ...added, ...rest.slice(at)];
}
