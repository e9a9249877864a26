import { withFiles } from '../core/checks/linter.ts';
import { type CheckOutput, defineTestRunner, type TestFailure } from '../core/checks/test-runner.ts';
import { toRelative } from '../core/readers/read-output.ts';
import {
  anyOf,
  escapePattern,
  findBuildErrors,
  judge,
  namesOf,
  reasonOf,
  unique,
  withoutReport,
} from '../core/readers/read-tests.ts';

export const swiftTest = defineTestRunner({
  name: 'swift-test',
  cannotPick: () => [],
  toArgv(argv, { files, name, again }) {
    const [program, ...rest] = withFiles(argv, []);
    const names = namesOf(again);
    const classes = files.map((file) => file.slice(file.lastIndexOf('/') + 1).replace(/\.swift$/, ''));
    const patterns = names
      ? names.map((one) => anyOf([one]).slice(1))
      : again
        ? []
        : [...classes.map((one) => `\\.${escapePattern(one)}/`), ...(name === undefined ? [] : [escapePattern(name)])];
    return [program, ...rest, ...patterns.map((pattern) => `--filter=${pattern}`)];
  },
  read(output) {
    const text = `${output.stdout}\n${output.stderr}`;
    const sums = [readXctest(text), readSwiftTesting(text)].filter((one) => one !== undefined);
    if (sums.length === 0) {
      const [first] = findBuildErrors(output);
      return first ? withBuild(first, output) : withoutReport(output);
    }
    const failures = readFailures(text, output);
    const sum = (key: 'total' | 'failed' | 'skipped') => sums.reduce((total, one) => total + one[key], 0);
    const failed = Math.max(sum('failed'), failures.length);
    return judge(
      { passed: Math.max(0, sum('total') - failed - sum('skipped')), failed, skipped: sum('skipped'), failures },
      output,
    );
  },
});

function withBuild(first: TestFailure, output: CheckOutput) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  return judge({ ...counts, failures: findBuildErrors(output), broken: reasonOf(first, output) }, output);
}

interface Sums {
  readonly total: number;
  readonly failed: number;
  readonly skipped: number;
}

/** The last one is of all suites together. */
function readXctest(text: string): Sums | undefined {
  const last = [
    ...text.matchAll(
      /^[ \t]{0,8}Executed (\d{1,9}) tests?, with (?:(\d{1,9}) tests? skipped and )?(\d{1,9}) failures?/gm,
    ),
  ].at(-1);
  if (!last) return undefined;
  const failedTests = unique([...text.matchAll(/^Test Case '(.{1,500})' failed /gm)].map(([, name = '']) => name));
  return { total: Number(last[1]), skipped: Number(last[2] ?? 0), failed: failedTests.length || Number(last[3]) };
}

function readSwiftTesting(text: string): Sums | undefined {
  const last = [...text.matchAll(/^\S{1,3} {1,2}Test run with (\d{1,9}) tests?.{0,100} (passed|failed) after /gm)].at(
    -1,
  );
  if (!last) return undefined;
  const failed = [...text.matchAll(/^\S{1,3} {1,2}Test (?!run with ).{1,500} failed after /gm)].length;
  const skipped = [...text.matchAll(/^\S{1,3} {1,2}Test .{1,500} skipped/gm)].length;
  return { total: Number(last[1]), failed: last[2] === 'failed' ? Math.max(1, failed) : failed, skipped };
}

const xctestError = /^([^\s:]{1,500}\.swift):(\d{1,9}): error: (?:-\[)?([\w.]{1,300})[. ](\w{1,300})\]? : (.+)$/gm;
const testingError =
  /^\S{1,3} {1,2}Test (.{1,300}) recorded an issue(?: with .{1,300}?)? at ([^\s:]{1,300}):(\d{1,9}):\d{1,9}: (.+)$/gm;

function readFailures(text: string, { directory }: CheckOutput): TestFailure[] {
  const old = [...text.matchAll(xctestError)].map(([, path = '', line, type = '', test = '', message = '']) => ({
    ...{ name: `${type}.${test}`, file: toRelative(path, directory), line: Number(line), message },
    id: `${type.slice(type.lastIndexOf('.') + 1)}/${test}`,
  }));
  const fresh = [...text.matchAll(testingError)].map(([, name = '', file = '', line, message = '']) => ({
    ...{ name, file, line: Number(line), message, id: name },
  }));
  return [...new Map([...old, ...fresh].map((failure) => [failure.name, failure])).values()];
}
