import { withFiles } from '../core/checks/linter.ts';
import { defineTestRunner, type TestFailure } from '../core/checks/test-runner.ts';
import { readJunit } from '../core/readers/read-junit.ts';
import { empty, namesOf } from '../core/readers/read-tests.ts';

export const mesonTest = defineTestRunner({
  name: 'meson-test',
  cannotPick: () => ['files'],
  reports: { directory: 'meson-logs', suffix: 'testlog.junit.xml' },
  // It builds what it tests, but only where it has been set up.
  before(argv) {
    const at = argv.indexOf('-C');
    const directory = at < 0 ? undefined : argv[at + 1];
    return directory === undefined ? [] : [['meson', 'setup', directory]];
  },
  toArgv(argv, { name, again }) {
    const [program, ...rest] = withFiles(argv, []);
    const names = namesOf(again) ?? (name === undefined || again ? [] : [`*${withoutWildcards(name)}*`]);
    // Everything after `--` is a name, whatever it begins with.
    return [program, ...rest, ...(names.length > 0 ? ['--', ...names] : [])];
  },
  read(output) {
    if (/^No suitable tests defined\.$/m.test(`${output.stdout}\n${output.stderr}`)) return empty;
    const report = readJunit(output, { toName: ({ name }) => name });
    return { ...report, failures: report.failures.map(fromBuild) };
  },
});

/** Its compilers run in the directory of the build, which is in the project's. */
function fromBuild({ file, name, ...rest }: TestFailure): TestFailure {
  const up = /^(?:\.\.\/)+/;
  return file === undefined ? { name, ...rest } : { ...rest, name: name.replace(up, ''), file: file.replace(up, '') };
}

function withoutWildcards(name: string): string {
  return name.replace(/[*?[\]]/g, '?');
}
