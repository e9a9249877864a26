import { withFiles } from '../core/project-tools/linter.ts';
import { defineTestRunner, type TestFailure } from '../core/project-tools/test-runner.ts';
import { readTap } from '../core/readers/tests/read-tap.ts';
import {
  filesOfFailures,
  missingTestReport,
  selectableNames,
  toTestReport,
} from '../core/readers/tests/to-test-report.ts';

export const ava = defineTestRunner({
  name: 'ava',
  toArgv(argv, { files, named, name, again }) {
    const titles = selectableNames(again)?.map(toTitle) ?? (name === undefined || again ? [] : [`*${toTitle(name)}*`]);
    return [
      ...withFiles(argv, again ? filesOfFailures(again) : files, named),
      '--tap',
      ...titles.map((title) => `--match=${title}`),
    ];
  },
  read(output) {
    const counted = readTap(output.stdout, output.directory);
    if (!counted) return missingTestReport(output);
    const failures = counted.failures.map((failure) => (isFile.test(failure.name) ? toBuild(failure) : failure));
    const build = failures.find(({ isBuild }) => isBuild);
    const failed = counted.failed - failures.filter(({ isBuild }) => isBuild).length;
    return toTestReport({ ...counted, failures, failed, broken: counted.broken ?? build?.name }, output);
  },
});

/** Entries that ava counts as tests although they are files: one that ended early or has no tests. */
const isFile = /^(?:Error\b.{0,300}|(.{1,300}) exited (?:with|due)\b.{0,200}|No tests found in (.{1,300}))$/;

function toBuild(failure: TestFailure): TestFailure {
  const [, ended, without] = failure.name.match(isFile) ?? [];
  return { ...failure, file: ended ?? without ?? failure.file, isBuild: true };
}

/**
 * Removes the file name, which ava puts before the title when it runs several files. `*` and a leading `!` are pattern
 * syntax.
 */
function toTitle(name: string): string {
  const title = name.slice(name.lastIndexOf(' › ') + 1).replace(/^› /, '');
  return title.replace(/^!/, '*');
}
