import { withFiles } from '../core/project-tools/linter.ts';
import { type CheckOutput, defineTestRunner, type TestFailure } from '../core/project-tools/test-runner.ts';
import { toRelative } from '../core/readers/reader-helpers.ts';
import { type GoRun, type GoTest, readGoEvents } from '../core/readers/tests/read-go-events.ts';
import {
  buildFailureReason,
  escapePattern,
  findBuildErrors,
  missingTestReport,
  toTestReport,
  unique,
} from '../core/readers/tests/to-test-report.ts';

export const goTest = defineTestRunner({
  name: 'go-test',
  followUp: ['go', 'list', '-m', '-f', '{{.Path}} {{.Dir}}'],
  toArgv(argv, { files, name, again }) {
    const [program, ...rest] = withFiles(argv, again ? packagesOf(again) : unique(files.map(toPackage)), ['./...']);
    const pattern = again ? toPattern(again) : name === undefined ? undefined : toTopLevel(name);
    const options = ['-json', '-count=1', ...(pattern === undefined ? [] : [`-run=${pattern}`])];
    const at = rest.indexOf('test') + 1;
    return [program, ...rest.slice(0, at), ...options, ...rest.slice(at)];
  },
  read(output) {
    const run = readGoEvents(output.stdout);
    const builds = findBuildErrors({ ...output, stdout: run.rest });
    const tests = withoutParents(run.tests);
    const failures = tests.filter(({ state }) => state === 'fail').map((test) => toFailure(test, output));
    const count = (state: GoTest['state']) => tests.filter((test) => test.state === state).length;
    const counts = { passed: count('pass'), failed: failures.length, skipped: count('skip') };
    const broken = whyBroken(run, builds, output);
    if (broken === undefined && run.tests.length === 0 && output.exitCode !== 0) return missingTestReport(output);
    return toTestReport(
      { ...counts, failures: [...(broken === undefined ? [] : builds), ...failures], broken },
      output,
    );
  },
});

/**
 * Explains a package that failed without a failed test: it could not be built, or something outside of its tests
 * failed.
 */
function whyBroken({ tests, failedPackages, rest }: GoRun, builds: readonly TestFailure[], output: CheckOutput) {
  const isBuild = /^FAIL\t.{1,1000} \[(?:build|setup) failed\]$/m.test(rest) || output.stderr.startsWith('# ');
  const [first] = builds;
  if (output.exitCode !== 0 && isBuild && first) return buildFailureReason(first, output);
  for (const [name, said] of failedPackages) {
    if (tests.some((test) => test.package === name && test.state === 'fail')) continue;
    if (first) return buildFailureReason(first, output);
    return `${name}: ${said.trim().split('\n')[0] ?? 'failed'}`;
  }
  return isBuild && output.exitCode !== 0 ? 'a package could not be built' : undefined;
}

/** Drops tests whose sub-tests hold the results, unless such a test failed although none of its sub-tests did. */
function withoutParents(tests: readonly GoTest[]): GoTest[] {
  const children = new Map<string, 'fine' | 'fail'>();
  for (const { package: path, name, state } of tests) {
    // A sub-test's name may contain a slash, so its parent's name may end at any slash.
    for (let at = name.indexOf('/'); at >= 0; at = name.indexOf('/', at + 1)) {
      const parent = `${path}:${name.slice(0, at)}`;
      if (state === 'fail' || !children.has(parent)) children.set(parent, state === 'fail' ? 'fail' : 'fine');
    }
  }
  return tests.filter(({ package: path, name, state }) => {
    const below = children.get(`${path}:${name}`);
    return below === undefined || (below === 'fine' && state === 'fail');
  });
}

function toFailure(test: GoTest, { followUpOutput = '', directory }: CheckOutput): TestFailure {
  const lines = test.output.split('\n').filter((line) => !/^\s*(?:===|---) /.test(line));
  const text = lines.join('\n');
  const [, file, line, said] = text.match(/^[ \t]{1,40}([\w.-]{1,200}\.go):(\d{1,9}): (.*)$/m) ?? [];
  const stopped = file === undefined ? stoppedAt(text, directory) : undefined;
  const where = directoryOf(test.package, followUpOutput, directory);
  return {
    name: test.name,
    id: `${test.package}:${test.name}`,
    ...(file !== undefined && { file: where === '' ? file : `${where}/${file}`, line: Number(line) }),
    ...stopped,
    message: said === undefined ? (lines.find((row) => row.trim() !== '') ?? 'failed') : text.trim(),
  };
}

/** Returns the first location of a panic's stack that is in the project. */
function stoppedAt(text: string, directory: string): Pick<TestFailure, 'file' | 'line'> | undefined {
  for (const [, path = '', line] of text.matchAll(/^\t([^\s:]{1,500}\.go):(\d{1,9})/gm)) {
    const file = toRelative(path, directory);
    if (!file.startsWith('/')) return { file, line: Number(line) };
  }
  return undefined;
}

/** Returns the directory of a package, from the modules that `go list` printed. */
function directoryOf(name: string, answer: string, directory: string): string {
  for (const row of answer.split('\n').slice(0, 200)) {
    const [path = '', ...words] = row.split(' ');
    if (path === '' || (name !== path && !name.startsWith(`${path}/`))) continue;
    const root = toRelative(`${words.join(' ')}/`, directory).replace(/\/$/, '');
    return [root, name.slice(path.length + 1)].filter((part) => part !== '').join('/');
  }
  return '';
}

function packagesOf(again: readonly TestFailure[]): string[] {
  return unique(again.map(({ id, file, isBuild }) => (isBuild || !id ? toPackage(file ?? '') : (split(id)[0] ?? ''))));
}

function split(id: string): [string, string] {
  const at = id.indexOf(':');
  return [id.slice(0, at), id.slice(at + 1)];
}

/** Returns the package of a file: Go tests directories, never single files. */
function toPackage(file: string): string {
  if (!file.endsWith('.go')) return `./${file}`.replace(/\/+$/, '');
  const at = file.lastIndexOf('/');
  return at < 0 ? '.' : `./${file.slice(0, at)}`;
}

/** Builds a pattern for each level of each test: `^TestA$/^first$|^TestB$`. */
function toPattern(again: readonly TestFailure[]): string | undefined {
  if (again.some(({ isBuild }) => isBuild)) return undefined;
  const names = unique(again.map(({ id, name }) => (id ? split(id)[1] : name)));
  return names.map((name) => name.split('/').map(toLevel).join('/')).join('|');
}

const toLevel = (part: string) => `^${escapePattern(part)}$`;

/** Escapes a name level by level, because a slash in a pattern goes one level down. */
function toTopLevel(name: string): string {
  return name.trim().replaceAll(' ', '_').split('/').map(escapePattern).join('/');
}
