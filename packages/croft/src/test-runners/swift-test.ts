import { withFiles } from '../core/project-tools/linter.ts';
import { defineTestRunner, type TestRequest } from '../core/project-tools/test-runner.ts';
import { findUnfinishedSwiftTests, readSwiftFailures } from '../core/readers/tests/read-swift-failures.ts';
import {
  escapePattern,
  missingTestReport,
  selectableNames,
  toTestReport,
  unique,
} from '../core/readers/tests/to-test-report.ts';

export const swiftTest = defineTestRunner({
  name: 'swift-test',
  cannotPick: () => [],
  takesOneFile: true,
  whyAllTestsRerun: (again) =>
    again.some(({ id, name }) => (id ?? name).startsWith('"')) ? 'a test cannot be picked by its title' : undefined,
  toArgv(argv, request) {
    const [program, ...rest] = withFiles(argv, []);
    // Swift Testing ignores `--filter=…` in one argument and runs everything.
    return [program, ...rest, ...toPatterns(request).flatMap((pattern) => ['--filter', pattern])];
  },
  read(output) {
    const text = `${output.stdout}\n${output.stderr}`;
    const sums = [readXctest(text), readSwiftTesting(text)].filter((one) => one !== undefined);
    const unfinished = findUnfinishedSwiftTests(text, output.directory);
    if (sums.length === 0 && unfinished.length === 0) return missingTestReport(output);
    const failures = [...readSwiftFailures(text, output.directory), ...unfinished];
    const sum = (key: keyof Sums) => sums.reduce((total, one) => total + one[key], 0);
    const failed = Math.max(sum('failed') + unfinished.length, failures.length);
    return toTestReport({ passed: sum('passed'), failed, skipped: sum('skipped'), failures }, output);
  },
});

/**
 * Builds filters. XCTest names a test `Target.Class/method`, Swift Testing `Target.Suite/function()/File.swift:9:2`.
 * With two patterns, a test that matches either runs.
 */
function toPatterns({ files, name, again }: TestRequest): string[] {
  if (again) return toAgain(selectableNames(again) ?? []);
  const named = name === undefined ? '' : escapePattern(name);
  if (files.length === 0) return name === undefined ? [] : [`(${named})`];
  const stems = files.map((file) => escapePattern(file.slice(file.lastIndexOf('/') + 1).replace(/\.swift$/, '')));
  return stems.map((stem) => `(\\.${stem}/.*${named}|${named}.*/${stem}\\.swift:)`);
}

/** Selects failed tests. A title in quotes cannot be selected: then all tests run. */
function toAgain(names: readonly string[]): string[] {
  return names.some((name) => name.startsWith('"')) ? [] : names.map((name) => `[./]${escapePattern(name)}(/|$)`);
}

interface Sums {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Reads the last summary, which covers all suites unless the program crashed. */
function readXctest(text: string): Sums | undefined {
  const last = [
    ...text.matchAll(
      /^[ \t]{0,8}Executed (\d{1,9}) tests?, with (?:(\d{1,9}) tests? skipped and )?(\d{1,9}) failures?/gm,
    ),
  ].at(-1);
  if (!last) return undefined;
  const failedTests = unique([...text.matchAll(/^Test Case '(.{1,500})' failed /gm)].map(([, name = '']) => name));
  return toSums(Number(last[1]), failedTests.length || Number(last[3]), Number(last[2] ?? 0));
}

function readSwiftTesting(text: string): Sums | undefined {
  if (!/^\S{1,3} {1,2}Test run started\.$/m.test(text)) return undefined;
  const count = (pattern: RegExp) => [...text.matchAll(pattern)].length;
  const failed = count(/^\S{1,3} {1,2}Test (?!run with ).{1,500} failed after /gm);
  const skipped = count(/^\S{1,3} {1,2}Test .{1,300} skipped(?:$|[.:])/gm);
  const last = [...text.matchAll(/^\S{1,3} {1,2}Test run with (\d{1,9}) tests?.{0,100} (passed|failed) after /gm)].at(
    -1,
  );
  if (last) return toSums(Number(last[1]), last[2] === 'failed' ? Math.max(1, failed) : failed, skipped);
  return { passed: count(/^\S{1,3} {1,2}Test (?!run with ).{1,500} passed after /gm), failed, skipped };
}

function toSums(total: number, failed: number, skipped: number): Sums {
  return { passed: Math.max(0, total - failed - skipped), failed, skipped };
}
