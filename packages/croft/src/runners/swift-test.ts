import { withFiles } from '../core/checks/linter.ts';
import { defineTestRunner, type TestRequest } from '../core/checks/test-runner.ts';
import { escapePattern, judge, namesOf, unique, withoutReport } from '../core/readers/read-tests.ts';
import { findUnfinished, readSwiftFailures } from '../core/readers/swift-failures.ts';

export const swiftTest = defineTestRunner({
  name: 'swift-test',
  cannotPick: () => [],
  takesOneFile: true,
  toArgv(argv, request) {
    const [program, ...rest] = withFiles(argv, []);
    // Swift Testing takes no notice of `--filter=…` in one argument, and runs everything.
    return [program, ...rest, ...toPatterns(request).flatMap((pattern) => ['--filter', pattern])];
  },
  read(output) {
    const text = `${output.stdout}\n${output.stderr}`;
    const sums = [readXctest(text), readSwiftTesting(text)].filter((one) => one !== undefined);
    const unfinished = findUnfinished(text, output.directory);
    if (sums.length === 0 && unfinished.length === 0) return withoutReport(output);
    const failures = [...readSwiftFailures(text, output.directory), ...unfinished];
    const sum = (key: keyof Sums) => sums.reduce((total, one) => total + one[key], 0);
    const failed = Math.max(sum('failed') + unfinished.length, failures.length);
    return judge({ passed: sum('passed'), failed, skipped: sum('skipped'), failures }, output);
  },
});

/**
 * The tests of XCTest are called `Target.Class/method`, and those of Swift Testing `Target.Suite/function()/File.swift:9:2`.
 * Of two patterns, either counts.
 */
function toPatterns({ files, name, again }: TestRequest): string[] {
  if (again) return toAgain(namesOf(again) ?? []);
  const named = name === undefined ? '' : escapePattern(name);
  if (files.length === 0) return name === undefined ? [] : [`(${named})`];
  const stems = files.map((file) => escapePattern(file.slice(file.lastIndexOf('/') + 1).replace(/\.swift$/, '')));
  return stems.map((stem) => `(\\.${stem}/.*${named}|${named}.*/${stem}\\.swift:)`);
}

/** A title, which stands in quotes, is nothing to pick a test by: all of them are run then. */
function toAgain(names: readonly string[]): string[] {
  return names.some((name) => name.startsWith('"')) ? [] : names.map((name) => `[./]${escapePattern(name)}(/|$)`);
}

interface Sums {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** The last one is of all suites together, unless the program came to its end before. */
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
