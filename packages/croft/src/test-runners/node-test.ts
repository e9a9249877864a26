import { withFiles } from '../core/project-tools/linter.ts';
import { defineTestRunner, type TestFailure } from '../core/project-tools/test-runner.ts';
import type { Argv } from '../core/projects/profile.ts';
import { readJunit } from '../core/readers/tests/read-junit.ts';
import {
  escapePattern,
  exactNamesPattern,
  filesOfFailures,
  selectableNames,
} from '../core/readers/tests/to-test-report.ts';
import type { JunitCase } from '../lib/reports/junit.ts';

export const nodeTest = defineTestRunner({
  name: 'node-test',
  // Node takes patterns since version 21.
  takesOnlyFiles: true,
  toArgv(argv, { files, named, name, again, reportFile }) {
    // Since Node 22 a test is selected by its full name, before by its own name.
    const names = selectableNames(again) && again?.flatMap((one) => [one.name, one.id ?? one.name]);
    const pattern = names ? exactNamesPattern(names) : name === undefined || again ? undefined : escapePattern(name);
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
      // A file without tests, or without selected tests, counts as a passed test.
      isTest: (test) => test.state !== 'passed' || !isFile(test),
      toFile: (test) => (isFile(test) ? test.name : findTestFile(test.text)),
      isBuild: isFile,
      isTextStack: true,
    }),
});

const stackLocation = /(?:file:\/\/|\()(\/[^\s:()]{1,500}):\d{1,9}:\d{1,9}/g;

/** Finds the test file in a stack, because the report has none before Node 22. The stack ends with the test. */
function findTestFile(stack: string): string | undefined {
  const paths = [...stack.matchAll(stackLocation)].map(([, path = '']) => path);
  return paths.findLast((path) => !path.includes('/node_modules/'));
}

function isFile({ name, file, suites }: JunitCase): boolean {
  if (suites.length > 0) return false;
  return file === undefined ? /^\/.{0,1000}\.[cm]?[jt]sx?$/.test(name) : file.endsWith(name);
}

function fileOf({ name }: JunitCase): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

/** Returns the files of the failures, or none (which means all files) if one is unknown. */
function filesOfAll(again: readonly TestFailure[]): string[] {
  return again.every(({ file }) => file !== undefined) ? filesOfFailures(again) : [];
}

/** Inserts options where Node reads them: before the first file or, for a script, after its name or dashes. */
function insertAfter([program, ...rest]: Argv, option: string, added: readonly string[]): Argv {
  const known = rest.indexOf(option);
  const script = rest.indexOf('run') + 1;
  const at = known >= 0 ? known : rest[script + 1] === '--' ? script + 1 : script;
  return [program, ...rest.slice(0, at + 1), ...added, ...rest.slice(at + 1)];
}
