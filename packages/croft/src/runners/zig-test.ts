import { withFiles } from '../core/checks/linter.ts';
import { type CheckOutput, defineTestRunner, type TestFailure } from '../core/checks/test-runner.ts';
import { toRelative } from '../core/readers/read-output.ts';
import { findBuildErrors, judge, reasonOf, withoutReport } from '../core/readers/read-tests.ts';

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
    const sums = readSums(output.stderr) ?? readAll(output.stderr);
    const failures = readFailures(output);
    const builds = output.exitCode === 0 ? [] : findBuildErrors({ ...output, stdout: '' });
    const [first] = builds;
    if (first && failures.length === 0) {
      const counts = { passed: sums?.passed ?? 0, failed: 0, skipped: sums?.skipped ?? 0 };
      return judge({ ...counts, failures: builds, broken: reasonOf(first, output) }, output);
    }
    if (!sums) return withoutReport(output);
    return judge({ ...sums, failed: Math.max(sums.failed, failures.length), failures }, output);
  },
});

interface Sums {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
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
  return { passed: Number(passed), failed: failed + count('leaked'), skipped };
}

/** `All 3 tests passed.`, or `2 passed; 1 skipped; 1 failed.` */
function readAll(text: string): Sums | undefined {
  const all = text.match(/^All (\d{1,9}) tests passed\.$/m)?.[1];
  if (all !== undefined) return { passed: Number(all), failed: 0, skipped: 0 };
  const [, passed, skipped, failed] = text.match(/^(\d{1,9}) passed; (\d{1,9}) skipped; (\d{1,9}) failed\.$/m) ?? [];
  return passed === undefined
    ? undefined
    : { passed: Number(passed), skipped: Number(skipped), failed: Number(failed) };
}

/** Since 0.16 it is said below. */
function nextLine(text: string): string {
  return text.split('\n')[1]?.trim().slice(0, 500) ?? '';
}

const maxFailures = 1000;
const failed =
  /^(?:(?:[\w .-]{1,100}: )?error: '(.{1,300})' failed: ?|\d{1,9}\/\d{1,9} (.{1,300})\.\.\.FAIL \()(.{0,500})$/gm;

function readFailures({ stderr, directory }: CheckOutput): TestFailure[] {
  return [...stderr.matchAll(failed)].slice(0, maxFailures).map((match) => {
    const [, inBuild, alone, message = ''] = match;
    const after = stderr.slice(match.index, match.index + 4000);
    const places = [...after.matchAll(/^([^\s:]{1,500}\.zig):(\d{1,9}):\d{1,9}: 0x/gm)];
    const own = places
      .map(([, path = '', line]) => ({ file: toRelative(path, directory), line: Number(line) }))
      .find(({ file }) => !file.startsWith('/'));
    return { name: inBuild ?? alone ?? '', ...own, message: message.replace(/\)$/, '') || nextLine(after) || 'failed' };
  });
}
