import { withFiles } from '../core/checks/linter.ts';
import { type CheckOutput, defineTestRunner, type TestReport } from '../core/checks/test-runner.ts';
import { empty, findBuildErrors, judge, reasonOf, withoutReport } from '../core/readers/read-tests.ts';
import { hasZigCrashed, readZigFailures } from '../core/readers/zig-failures.ts';

export const zigTest = defineTestRunner({
  name: 'zig-test',
  cannotPick: (argv) => (argv.includes('build') ? ['files', 'name'] : []),
  toArgv(argv, { files, name }) {
    const isBuild = argv.includes('build');
    // What `zig build` takes is for the project's build.zig to say, so that there it runs whole.
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
    const broken = first && reasonOf(first, output);
    return judge({ ...counts, failures: first ? builds : failures, broken }, output);
  },
});

/** It says nothing of tests where there are none. */
function readOthers(output: CheckOutput): TestReport {
  const isBuilt = output.exitCode === 0 && /^Build Summary: (\d{1,9})\/\1 steps succeeded$/m.test(output.stderr);
  return isBuilt ? { ...empty, reason: 'all was built, and no test counted' } : withoutReport(output);
}

interface Sums {
  readonly total: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Those that leaked count as passed otherwise, as do all that it did not come to when one has crashed. */
function passedOf(sums: Sums | undefined, failed: number, text: string): number {
  return sums && !hasZigCrashed(text) ? Math.max(0, sums.total - sums.skipped - failed) : 0;
}

/** `Build Summary: 1/3 steps succeeded; 1 failed; 2/3 tests passed; 1 failed`, or in brackets since 0.16. */
function readSums(text: string): Sums | undefined {
  const [, passed, total, rest = ''] =
    text.match(/^Build Summary: .{0,200}?; (\d{1,9})\/(\d{1,9}) tests passed(.{0,200})$/m) ?? [];
  if (passed === undefined) return undefined;
  const count = (word: string) => Number(rest.match(new RegExp(`(\\d{1,9}) ${word}\\b`))?.[1] ?? 0);
  const skipped = count('skipped');
  // Those that crashed or took too long count as well, whatever they are called.
  const failed = Math.max(count('failed'), Number(total) - Number(passed) - skipped);
  return { total: Number(total), failed: failed + count('leaked'), skipped };
}

/** `All 3 tests passed.`, or `2 passed; 1 skipped; 1 failed.`, and below that `1 tests leaked memory.` */
function readAll(text: string): Sums | undefined {
  const last = (pattern: RegExp) => [...text.matchAll(pattern)].at(-1)?.slice(1).map(Number);
  const [leaked = 0] = last(/^(\d{1,9}) tests leaked memory\.$/gm) ?? [];
  const [all] = last(/^All (\d{1,9}) tests passed\.$/gm) ?? [];
  if (all !== undefined) return { total: all, failed: leaked, skipped: 0 };
  const [passed, skipped = 0, failed = 0] = last(/^(\d{1,9}) passed; (\d{1,9}) skipped; (\d{1,9}) failed\.$/gm) ?? [];
  return passed === undefined ? undefined : { total: passed + skipped + failed, failed: failed + leaked, skipped };
}
