import { withFiles } from '../core/project-tools/linter.ts';
import { type CheckOutput, defineTestRunner, type TestReport } from '../core/project-tools/test-runner.ts';
import { hasZigCrashed, readZigFailures } from '../core/readers/tests/read-zig-failures.ts';
import {
  buildFailureReason,
  emptyTestReport,
  findBuildErrors,
  missingTestReport,
  toTestReport,
} from '../core/readers/tests/to-test-report.ts';

export const zigTest = defineTestRunner({
  name: 'zig-test',
  cannotPick: (argv) => (argv.includes('build') ? ['files', 'name'] : []),
  whyAllTestsRerun: () => 'zig does not run single tests by their names',
  toArgv(argv, { files, name }) {
    const isBuild = argv.includes('build');
    // The project's build.zig decides which options `zig build` takes, so it always runs all tests.
    const filter = isBuild || name === undefined ? [] : ['--test-filter', name];
    return [...withFiles(argv, files), ...(isBuild ? ['--summary', 'all'] : filter)];
  },
  read(output) {
    const { stderr, exitCode, directory } = output;
    const sums = readSums(stderr) ?? readAll(stderr);
    const failures = readZigFailures(stderr, directory);
    const builds = exitCode === 0 || failures.length > 0 ? [] : findBuildErrors({ ...output, stdout: '' });
    const [first] = builds;
    if (!first && failures.length === 0 && !sums) return readOthers(output);
    const failed = Math.max(sums?.failed ?? 0, failures.length);
    const counts = { passed: passedOf(sums, failed, stderr), failed, skipped: sums?.skipped ?? 0 };
    const broken = first && buildFailureReason(first, output);
    return toTestReport({ ...counts, failures: first ? builds : failures, broken }, output);
  },
});

/** Zig prints nothing about tests if there are none. */
function readOthers(output: CheckOutput): TestReport {
  const isBuilt = output.exitCode === 0 && /^Build Summary: (\d{1,9})\/\1 steps succeeded$/m.test(output.stderr);
  return isBuilt
    ? { ...emptyTestReport, reason: 'everything was built, but no tests were counted' }
    : missingTestReport(output);
}

interface Sums {
  readonly total: number;
  readonly failed: number;
  readonly skipped: number;
}

/**
 * Counts passed tests without those that leaked. After a crash, the tests that did not run must not count as passed.
 */
function passedOf(sums: Sums | undefined, failed: number, text: string): number {
  return sums && !hasZigCrashed(text) ? Math.max(0, sums.total - sums.skipped - failed) : 0;
}

/** Reads `Build Summary: 1/3 steps succeeded; 1 failed; 2/3 tests passed; 1 failed`, in brackets since 0.16. */
function readSums(text: string): Sums | undefined {
  const [, passed, total, rest = ''] =
    text.match(/^Build Summary: .{0,200}?; (\d{1,9})\/(\d{1,9}) tests passed(.{0,200})$/m) ?? [];
  if (passed === undefined) return undefined;
  const count = (word: string) => Number(rest.match(new RegExp(`(\\d{1,9}) ${word}\\b`))?.[1] ?? 0);
  const skipped = count('skipped');
  // Tests that crashed or timed out count as failed, whatever the summary calls them.
  const failed = Math.max(count('failed'), Number(total) - Number(passed) - skipped);
  return { total: Number(total), failed: failed + count('leaked'), skipped };
}

/** Reads `All 3 tests passed.`, or `2 passed; 1 skipped; 1 failed.`, and below that `1 tests leaked memory.` */
function readAll(text: string): Sums | undefined {
  const last = (pattern: RegExp) => [...text.matchAll(pattern)].at(-1)?.slice(1).map(Number);
  const [leaked = 0] = last(/^(\d{1,9}) tests leaked memory\.$/gm) ?? [];
  const [all] = last(/^All (\d{1,9}) tests passed\.$/gm) ?? [];
  if (all !== undefined) return { total: all, failed: leaked, skipped: 0 };
  const [passed, skipped = 0, failed = 0] = last(/^(\d{1,9}) passed; (\d{1,9}) skipped; (\d{1,9}) failed\.$/gm) ?? [];
  return passed === undefined ? undefined : { total: passed + skipped + failed, failed: failed + leaked, skipped };
}
