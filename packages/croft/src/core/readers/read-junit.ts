import { type JunitCase, parseJunit } from '../../lib/junit.ts';
import type { CheckOutput, TestFailure, TestReport } from '../checks/test-runner.ts';
import { toRelative, unreadable } from './read-output.ts';
import { findBuildErrors, judge, lineIn, reasonOf, withoutReport } from './read-tests.ts';

export interface JunitHabits {
  /** Whether it is one, and no entry for a file or for all of them. */
  isTest?(test: JunitCase): boolean;
  /** As the runner shows it. */
  toName?(test: JunitCase): string;
  /** What to run it again by, if not its name. */
  toId?(test: JunitCase, file: string | undefined): string | undefined;
  /** What is said of it, where that is not as it should be read. */
  toMessage?(test: JunitCase): string | undefined;
  /** Whether the text of it says no more than the message. */
  readonly isTextStack?: boolean;
  /** Whether it stands for a file or a class that could not be loaded. */
  isBuild?(test: JunitCase): boolean;
  /** Where it is, if the report does not say. */
  toFile?(test: JunitCase): string | undefined;
}

/** What a runner says that writes JUnit's XML. */
export function readJunit(output: CheckOutput, habits: JunitHabits = {}): TestReport {
  if (output.report === undefined || output.report.trim() === '') return withoutReport(output);
  const cases = parseJunit(output.report)?.filter((test) => habits.isTest?.(test) ?? true);
  if (!cases) return output.exitCode === 0 ? unreadable('its report is no JUnit XML') : withoutReport(output);
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
  if (firstBuild) return judge({ ...counts, failures, broken: reasonOf(firstBuild, output) }, output);
  return judge({ ...counts, failures, ...brokenBuild(failures, output) }, output);
}

/** A part that could not be built has no tests in the report, and those of the other parts may all have passed. */
function brokenBuild(failures: readonly TestFailure[], output: CheckOutput) {
  if (failures.length > 0 || output.exitCode === 0) return {};
  const errors = findBuildErrors(output);
  const [first] = errors;
  if (first) return { failures: errors, broken: reasonOf(first, output) };
  const said = output.stderr.match(/^\s{0,8}error: (.{1,300})/m)?.[1];
  return said === undefined ? {} : { broken: `exit ${output.exitCode}: ${said}` };
}

/** Why a file could not be loaded is often not in the report but in what was printed. */
function withReasons(failures: TestFailure[], { toMessage }: JunitHabits, output: CheckOutput): TestFailure[] {
  if (toMessage || !failures.some(({ isBuild }) => isBuild)) return failures;
  const errors = findBuildErrors(output);
  // In a file that no test is in, and that those were loading.
  const beyond = errors.find(({ file }) => !failures.some((failure) => failure.file === file));
  return failures.map((failure) => {
    if (!failure.isBuild) return failure;
    const own = errors.findLast(({ file }) => file === failure.file);
    if (own) return { ...failure, line: own.line, message: own.message };
    return beyond ? { ...failure, message: `${beyond.name}: ${beyond.message}` } : failure;
  });
}

function toFailure(test: JunitCase, habits: JunitHabits, { directory }: CheckOutput): TestFailure {
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

/** Of Java and JavaScript: where it stopped is told by file and line, and the rest is not of the project. */
function withoutStack(text: string): string {
  const lines = text.split('\n').filter((line) => !/^\s+(?:at |\.\.\. \d{1,5} more$)/.test(line));
  return lines.join('\n');
}

/** Of what a test printed, the end: that is where it stopped. */
const maxOutput = 2000;

/** Where it stopped, rather than where it begins. */
function lineOf({ text, line, output }: JunitCase, path: string, file: string): number | undefined {
  const name = file.slice(file.lastIndexOf('/') + 1);
  return lineIn(text, path) ?? lineIn(text, file) ?? lineIn(text, `(${name}`) ?? line ?? lineIn(output, path);
}
