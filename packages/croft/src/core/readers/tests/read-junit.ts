import { type JunitCase, parseJunit } from '../../../lib/reports/junit.ts';
import type { CheckOutput, TestFailure, TestReport } from '../../project-tools/test-runner.ts';
import { toRelative, unreadableTests } from '../reader-helpers.ts';
import { buildFailureReason, findBuildErrors, lineIn, missingTestReport, toTestReport } from './to-test-report.ts';

interface JunitDialect {
  /** Whether an entry is a test, not one for a file or for all files. */
  isTest?(test: JunitCase): boolean;
  /** Name of the test as the test runner shows it. */
  toName?(test: JunitCase): string;
  /** Id to repeat the test by, if not its name. */
  toId?(test: JunitCase, file: string | undefined): string | undefined;
  /** Message of the test, if the report's own is not fit to read. */
  toMessage?(test: JunitCase): string | undefined;
  /** The text has nothing that the message lacks. */
  readonly isTextStack?: boolean;
  /** Whether the entry stands for a file or class that could not be loaded. */
  isBuild?(test: JunitCase): boolean;
  /** File of the test, if the report does not say. */
  toFile?(test: JunitCase): string | undefined;
}

/** Reads the report of a test runner that writes JUnit XML. */
export function readJunit(output: CheckOutput, habits: JunitDialect = {}): TestReport {
  if (output.report === undefined || output.report.trim() === '') return missingTestReport(output);
  const cases = parseJunit(output.report)?.filter((test) => habits.isTest?.(test) ?? true);
  if (!cases) return output.exitCode === 0 ? unreadableTests('its report is not JUnit XML') : missingTestReport(output);
  const bad = cases.filter(({ state }) => state === 'failed' || state === 'error');
  const failures = withReasons(
    bad.map((test) => toFailure(test, habits, output)),
    habits,
    output,
  );
  const builds = failures.filter(({ isBuild }) => isBuild);
  const counts = {
    passed: cases.filter(({ state }) => state === 'passed').length,
    failed: bad.length - builds.length,
    skipped: cases.filter(({ state }) => state === 'skipped').length,
  };
  const [firstBuild] = builds;
  if (firstBuild) return toTestReport({ ...counts, failures, broken: buildFailureReason(firstBuild, output) }, output);
  return toTestReport({ ...counts, failures, ...findBrokenBuild(failures, output) }, output);
}

/**
 * Finds build errors: a module that could not be built has no tests in the report, and the tests of the others may all
 * have passed.
 */
function findBrokenBuild(failures: readonly TestFailure[], output: CheckOutput) {
  if (failures.length > 0 || output.exitCode === 0) return {};
  const errors = findBuildErrors(output);
  const [first] = errors;
  if (first) return { failures: errors, broken: buildFailureReason(first, output) };
  const said = output.stderr.match(/^\s{0,8}error: (.{1,300})/m)?.[1];
  return said === undefined ? {} : { broken: `exit ${output.exitCode}: ${said}` };
}

/** Adds the reason why a file could not be loaded, which is often in the printed output and not in the report. */
function withReasons(failures: TestFailure[], { toMessage }: JunitDialect, output: CheckOutput): TestFailure[] {
  if (toMessage || !failures.some(({ isBuild }) => isBuild)) return failures;
  const errors = findBuildErrors(output);
  // An error in a file without tests, which the test files were loading.
  const beyond = errors.find(({ file }) => !failures.some((failure) => failure.file === file));
  return failures.map((failure) => {
    if (!failure.isBuild) return failure;
    const own = errors.findLast(({ file }) => file === failure.file);
    if (own) return { ...failure, line: own.line, message: own.message };
    return beyond ? { ...failure, message: `${beyond.name}: ${beyond.message}` } : failure;
  });
}

function toFailure(test: JunitCase, habits: JunitDialect, { directory }: CheckOutput): TestFailure {
  const path = test.file ?? habits.toFile?.(test);
  const file = path === undefined ? undefined : toRelative(path, directory);
  const id = habits.toId?.(test, file);
  const text = withoutStack(test.text).trim();
  const isMore = test.message !== '' && text !== '' && text !== test.message;
  return {
    name: habits.toName?.(test) ?? [test.className, test.name].filter((part) => part !== '').join(' '),
    ...(file !== undefined && { file, line: lineOf(test, path ?? '', file) }),
    message: habits.toMessage?.(test) || test.message || text || test.output.trim().slice(-maxOutput),
    ...(isMore && !habits.isTextStack && { diff: text }),
    ...(id !== undefined && { id }),
    ...(habits.isBuild?.(test) && { isBuild: true as const }),
  };
}

/** Removes the stack of Java and JavaScript: file and line already say where the test stopped. */
function withoutStack(text: string): string {
  const lines = text.split('\n').filter((line) => !/^\s+(?:at |\.\.\. \d{1,5} more$)/.test(line));
  return lines.join('\n');
}

/** Characters from the end of a test's output, where it stopped. */
const maxOutput = 2000;

/** Returns the line where the test stopped, rather than where it begins. */
function lineOf({ text, line, output }: JunitCase, path: string, file: string): number | undefined {
  const name = file.slice(file.lastIndexOf('/') + 1);
  return lineIn(text, path) ?? lineIn(text, file) ?? lineIn(text, `(${name}`) ?? line ?? lineIn(output, path);
}
