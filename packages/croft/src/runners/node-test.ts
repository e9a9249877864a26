import { withFiles } from '../core/linter.ts';
import type { Argv } from '../core/profile.ts';
import { readJunit } from '../core/read-junit.ts';
import { anyOf, escapePattern, filesOf, namesOf } from '../core/read-tests.ts';
import { defineTestRunner } from '../core/test-runner.ts';
import type { JunitCase } from '../lib/junit.ts';

export const nodeTest = defineTestRunner({
  name: 'node-test',
  toArgv(argv, { files, name, again, reportFile }) {
    // Since Node 22 a test is picked by its whole name, before by its own.
    const names = namesOf(again) && again?.flatMap((one) => [one.name, one.id ?? one.name]);
    const pattern = names ? anyOf(names) : name === undefined || again ? undefined : escapePattern(name);
    const options = [
      ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
      ...['--test-reporter=junit', `--test-reporter-destination=${reportFile}`],
      ...(pattern === undefined ? [] : [`--test-name-pattern=${pattern}`]),
    ];
    return insertAfter(withFiles(argv, again ? filesOf(again) : files), '--test', options);
  },
  read: (output) =>
    readJunit(output, {
      toName: (test) => (isFile(test) ? fileOf(test) : [...test.suites, test.name].join(' ')),
      toId: ({ suites, name }) => (suites.length > 0 ? name : undefined),
      // A file without a test in it, or without one that was asked for, counts as a test that passed.
      isTest: (test) => test.state !== 'passed' || !isFile(test),
      toFile: (test) => (isFile(test) ? test.name : test.text.match(firstPlace)?.[1]),
      isBuild: isFile,
      isTextStack: true,
    }),
});

/** The report has no file before Node 22; a stack does, if the test threw something that has one. */
const firstPlace = /(?:file:\/\/|\()(\/[^\s:()]{1,500}):\d{1,9}:\d{1,9}/;

function isFile({ name, file, suites }: JunitCase): boolean {
  if (suites.length > 0) return false;
  return file === undefined ? /^\/.{0,1000}\.[cm]?[jt]sx?$/.test(name) : file.endsWith(name);
}

function fileOf({ name }: JunitCase): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

/** Node takes options for itself only before the first file. */
function insertAfter([program, ...rest]: Argv, option: string, added: readonly string[]): Argv {
  const at = rest.indexOf(option) + 1;
  return [program, ...rest.slice(0, at), ...added, ...rest.slice(at)];
}
