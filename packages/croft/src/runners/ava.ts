import { withFiles } from '../core/checks/linter.ts';
import { defineTestRunner, type TestFailure } from '../core/checks/test-runner.ts';
import { readTap } from '../core/readers/read-tap.ts';
import { filesOf, judge, namesOf, withoutReport } from '../core/readers/read-tests.ts';

export const ava = defineTestRunner({
  name: 'ava',
  toArgv(argv, { files, named, name, again }) {
    const titles = namesOf(again)?.map(toTitle) ?? (name === undefined || again ? [] : [`*${toTitle(name)}*`]);
    return [
      ...withFiles(argv, again ? filesOf(again) : files, named),
      '--tap',
      ...titles.map((title) => `--match=${title}`),
    ];
  },
  read(output) {
    const counted = readTap(output.stdout, output.directory);
    if (!counted) return withoutReport(output);
    const failures = counted.failures.map((failure) => (isFile.test(failure.name) ? toBuild(failure) : failure));
    const build = failures.find(({ isBuild }) => isBuild);
    const failed = counted.failed - failures.filter(({ isBuild }) => isBuild).length;
    return judge({ ...counted, failures, failed, broken: counted.broken ?? build?.name }, output);
  },
});

/** Not tests, but counted as such: a file that ended early or has none. */
const isFile = /^(?:Error\b.{0,300}|(.{1,300}) exited (?:with|due)\b.{0,200}|No tests found in (.{1,300}))$/;

function toBuild(failure: TestFailure): TestFailure {
  const [, ended, without] = failure.name.match(isFile) ?? [];
  return { ...failure, file: ended ?? without ?? failure.file, isBuild: true };
}

/** With several files it puts the file's name before a test's. `*` and a `!` in front are its syntax. */
function toTitle(name: string): string {
  const title = name.slice(name.lastIndexOf(' › ') + 1).replace(/^› /, '');
  return title.replace(/^!/, '*');
}
