import { withFiles } from '../core/project-tools/linter.ts';
import { type CheckOutput, defineTestRunner, type TestFailure } from '../core/project-tools/test-runner.ts';
import { toRelative } from '../core/readers/reader-helpers.ts';
import {
  emptyTestReport,
  filesOfFailures,
  missingTestReport,
  selectableNames,
  toTestReport,
} from '../core/readers/tests/to-test-report.ts';

export const mixTest = defineTestRunner({
  name: 'mix-test',
  toArgv: (argv, { files, name, again }) => [
    ...withFiles(argv, again ? (selectableNames(again) ?? filesOfFailures(again)) : files),
    // Mix selects by tags, and the full name of a test is one of them.
    ...(name === undefined || again ? [] : ['--only', `test:test ${name}`]),
  ],
  read(output) {
    const sums = readResult(output.stdout) ?? readSummary(output.stdout);
    if (!sums) return isEmpty.test(output.stdout) ? emptyTestReport : missingTestReport(output);
    const failures = readFailures(output);
    const { total, skipped, excluded, invalid } = sums;
    const failed = Math.max(sums.failed, failures.length);
    const passed = Math.max(0, total - failed);
    const broken = invalid > 0 ? `${invalid} tests are invalid: their set-up failed` : undefined;
    return toTestReport({ passed, failed, skipped: skipped + excluded, failures, broken }, output);
  },
});

const isEmpty = /^There are no tests to run$/m;

interface Sums {
  /** Tests that ran. */
  readonly total: number;
  readonly failed: number;
  readonly skipped: number;
  readonly excluded: number;
  readonly invalid: number;
}

/**
 * Since 1.20: `Result: 2 passed (1 doctest, 1 test)`, `Result: 1/3 passed, 1 invalid, 1 skipped` or `Result: 0 tests`.
 */
const result = /^Result: (\d{1,9})(?:\/(\d{1,9}))? (?:passed|tests?)\b(.{0,200})$/gm;

function readResult(text: string): Sums | undefined {
  const [, passed, of, details = ''] = [...text.matchAll(result)].at(-1) ?? [];
  if (passed === undefined) return undefined;
  const total = Number(of ?? passed);
  return { total, failed: total - Number(passed), ...readDetails(details) };
}

/** Before 1.20: `1 doctest, 3 tests, 1 failure, 1 skipped`, in which all tests count. */
const summary =
  /^((?:\d{1,9} (?:doctests?|properties|property), ){0,4}\d{1,9} tests?), (\d{1,9}) failures?(.{0,200})$/gm;

function readSummary(text: string): Sums | undefined {
  const [, all, failed, details = ''] = [...text.matchAll(summary)].at(-1) ?? [];
  if (all === undefined) return undefined;
  const others = readDetails(details);
  const ran = sumOf(all) - others.skipped - others.excluded - others.invalid;
  return { total: Math.max(0, ran), failed: Number(failed), ...others };
}

function readDetails(text: string) {
  const count = (word: string) => Number(text.match(new RegExp(`(\\d{1,9}) ${word}\\b`))?.[1] ?? 0);
  return { skipped: count('skipped'), excluded: count('excluded'), invalid: count('invalid') };
}

function sumOf(total: string): number {
  return (total.match(/\d{1,9}/g) ?? []).reduce((sum, count) => sum + Number(count), 0);
}

const heading = /^ {1,6}\d{1,6}\) (.{1,500}) \(([\w.]{1,300})\)\n {5}([^\s:]{1,500}):(\d{1,9})\n/gm;

function readFailures({ stdout, directory }: CheckOutput): TestFailure[] {
  const found = [...stdout.matchAll(heading)];
  return found.map((match, index) => {
    const [whole, test = '', module = '', path = '', line] = match;
    const file = toRelative(path, directory);
    const said = stdout.slice(match.index + whole.length, found[index + 1]?.index).split(/^(?! {5}|$)/m)[0] ?? '';
    const [text = '', stack = ''] = said.split(/^ {5}stacktrace:$/m);
    const stopped = stack.match(/^ {7}([^\s:]{1,500}):(\d{1,9}):/m);
    const isHere = stopped?.[1] === path;
    const name = `${module} ${test}`;
    const message = text.replaceAll(/^ {5}/gm, '').trim();
    return { name, file, line: Number(isHere ? stopped[2] : line), message, id: `${file}:${line}` };
  });
}
