import { withFiles } from '../core/project-tools/linter.ts';
import { defineTestRunner, type TestFailure, type TestRequest } from '../core/project-tools/test-runner.ts';
import { readJunit } from '../core/readers/tests/read-junit.ts';
import { escapePattern, selectableNames, unique } from '../core/readers/tests/to-test-report.ts';
import type { JunitCase } from '../lib/reports/junit.ts';

export const phpunit = defineTestRunner({
  name: 'phpunit',
  toArgv(argv, request) {
    const { files, again, reportFile } = request;
    const filter = again ? toExactFilter(again) : toFilter(request);
    return [
      // PHPUnit takes one file; several are selected by the classes that they are named after.
      ...withFiles(argv, !again && files.length === 1 ? files : []),
      ...['--colors=never', '--log-junit', reportFile],
      ...(filter === undefined ? [] : [`--filter=${filter}`]),
    ];
  },
  read: (output) => readJunit(output, { toName: toTestName, toId: toTestName, toMessage }),
});

function toTestName({ className, name, text }: JunitCase): string {
  // The report has the class with dots; the text begins with its real name.
  const real = text.split('\n')[0]?.split('::')[0] ?? '';
  return `${real.replaceAll('\\', '.') === className ? real : className.replaceAll('.', '\\')}::${name}`;
}

/** Returns the text between the name of the test and the location where it stopped. */
function toMessage({ text }: JunitCase): string {
  const lines = text.trim().split('\n').slice(1);
  const end = lines.lastIndexOf('');
  return (end < 0 ? lines : lines.slice(0, end)).join('\n');
}

function toExactFilter(again: readonly TestFailure[]): string | undefined {
  const names = selectableNames(again);
  return names && `/^(${names.map(escapePattern).join('|')})$/`;
}

function toFilter({ files, name }: TestRequest): string | undefined {
  const classes = files.length > 1 ? unique(files.map(toClass)).map(escapePattern) : [];
  if (classes.length === 0) return name === undefined ? undefined : `/${escapePattern(name)}/`;
  return `/\\b(${classes.join('|')})::.*${escapePattern(name ?? '')}/`;
}

function toClass(file: string): string {
  return file.slice(file.lastIndexOf('/') + 1).replace(/\.php$/, '');
}
