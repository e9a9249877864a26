import { withFiles } from '../core/project-tools/linter.ts';
import { defineTestRunner, type TestFailure } from '../core/project-tools/test-runner.ts';
import { readJunit } from '../core/readers/tests/read-junit.ts';
import { emptyTestReport, selectableNames } from '../core/readers/tests/to-test-report.ts';

export const mesonTest = defineTestRunner({
  name: 'meson-test',
  cannotPick: () => ['files'],
  reports: { directory: 'meson-logs', suffix: 'testlog.junit.xml' },
  // Meson builds what it tests, but only in a configured build directory.
  before(argv) {
    const at = argv.indexOf('-C');
    const directory = at < 0 ? undefined : argv[at + 1];
    return directory === undefined ? [] : [['meson', 'setup', directory]];
  },
  toArgv(argv, { name, again }) {
    const [program, ...rest] = withFiles(argv, []);
    const names = selectableNames(again) ?? (name === undefined || again ? [] : [`*${withoutWildcards(name)}*`]);
    // Everything after `--` is a name, also if it begins with a dash.
    return [program, ...rest, ...(names.length > 0 ? ['--', ...names] : [])];
  },
  read(output) {
    if (/^No suitable tests defined\.$/m.test(`${output.stdout}\n${output.stderr}`)) return emptyTestReport;
    const report = readJunit(output, { toName: ({ name }) => name });
    return { ...report, failures: report.failures.map(fromBuild) };
  },
});

/** Removes `../` from paths: compilers run in the build directory, which lies in the project's. */
function fromBuild({ file, name, ...rest }: TestFailure): TestFailure {
  const up = /^(?:\.\.\/)+/;
  return file === undefined ? { name, ...rest } : { ...rest, name: name.replace(up, ''), file: file.replace(up, '') };
}

function withoutWildcards(name: string): string {
  return name.replace(/[*?[\]]/g, '?');
}
