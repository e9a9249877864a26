import { withFiles } from '../core/project-tools/linter.ts';
import { type CheckOutput, defineTestRunner, type TestFailure } from '../core/project-tools/test-runner.ts';
import {
  buildFailureReason,
  findBuildErrors,
  missingTestReport,
  toTestReport,
  unique,
} from '../core/readers/tests/to-test-report.ts';

export const cargoTest = defineTestRunner({
  name: 'cargo-test',
  cannotPick: () => [],
  whyAllTestsRerun: (again) =>
    again.some(isDocumentation) ? 'a test in the documentation cannot be picked by its name' : undefined,
  toArgv(argv, { files, name, again }) {
    const [program, ...rest] = withFiles(argv, []);
    const names = again?.some(isNotPicked) ? undefined : again && unique(again.map((one) => one.name));
    const options = ['--no-fail-fast', ...(again ? [] : targetsOf(files))];
    if (names) return [program, ...rest, ...options, '--', '--exact', '--', ...names];
    const filter = name === undefined || again ? [] : ['--', '--', name];
    return [program, ...rest, ...options, ...filter];
  },
  read(output) {
    const results = [...output.stdout.matchAll(summary)];
    const failures = readFailures(output);
    const builds = output.exitCode === 0 ? [] : findBuildErrors({ ...output, stdout: '' });
    const [first] = builds;
    if (results.length === 0 && failures.length === 0) return missingTestReport({ ...output, stdout: '' });
    const sum = (group: number) => results.reduce((total, result) => total + Number(result[group]), 0);
    const counted = { passed: sum(1), failed: Math.max(sum(2), failures.length), skipped: sum(3) };
    const isBroken = first && /^error: could not compile /m.test(output.stderr);
    if (isBroken)
      return toTestReport(
        { ...counted, failures: [...builds, ...failures], broken: buildFailureReason(first, output) },
        output,
      );
    return toTestReport({ ...counted, failures, broken: whyUnfinished(output, results.length) }, output);
  },
});

/** Names of documentation tests have blanks, at which rustdoc splits them into several names. */
const isDocumentation = ({ isBuild, name }: TestFailure) => !isBuild && name.includes(' ');
const isNotPicked = (failure: TestFailure) => failure.isBuild || isDocumentation(failure);

const summary = /^test result: (?:ok|FAILED)\. (\d{1,9}) passed; (\d{1,9}) failed; (\d{1,9}) ignored;/gm;

/** Detects a test program that a signal or an abort ended: it prints how many tests it will run, but no result. */
function whyUnfinished({ stdout }: CheckOutput, results: number): string | undefined {
  const begun = stdout.match(/^running \d{1,9} tests?$/gm)?.length ?? 0;
  return begun > results ? 'a test program ended before its tests did' : undefined;
}

/** Only files in `tests` are programs of their own; the tests of a source file cannot be selected by its path. */
function targetsOf(files: readonly string[]): string[] {
  const targets = files.map((file) => file.match(/^(?:\.\/)?tests\/([\w-]{1,200})(?:\.rs|\/main\.rs)$/)?.[1]);
  return targets.every((target) => target !== undefined) ? targets.map((target) => `--test=${target}`) : [];
}

const failedTest = /^test (.{1,1000}) \.\.\. FAILED$/gm;

function readFailures({ stdout }: CheckOutput): TestFailure[] {
  const said = readBlocks(stdout);
  const names = [...stdout.matchAll(failedTest)].map(([, name = '']) => name.replace(/ - should panic$/, ''));
  return unique(names).map((name) => ({ name, ...toLocation(said.get(name) ?? '') }));
}

/** Returns the output of each test by name. */
function readBlocks(stdout: string): Map<string, string> {
  const blocks = stdout.split(/^---- /m).slice(1);
  return new Map(
    blocks.flatMap((block) => {
      const end = block.indexOf(' stdout ----\n');
      if (end < 0) return [];
      const text = block.slice(end + ' stdout ----\n'.length).split(/^failures:$/m)[0] ?? '';
      return [[block.slice(0, end), text] as const];
    }),
  );
}

const panicked = /^thread '.{1,500}' (?:\(\d{1,20}\) )?panicked at ([^\s:']{1,500}):(\d{1,9}):\d{1,9}:?$/m;
/** The format before Rust 1.73: the message first, which may have many lines. */
const oncePanicked = /^thread '.{1,500}' panicked at '([\s\S]{0,2000}?)', ([^\s:']{1,500}):(\d{1,9}):\d{1,9}$/m;

function toLocation(said: string): Pick<TestFailure, 'file' | 'line' | 'message'> {
  const match = said.match(panicked);
  if (!match) return toOldLocation(said);
  const [whole, file, line] = match;
  const after = said.slice((match.index ?? 0) + whole.length).split(/^(?:note: |stack backtrace:)/m)[0] ?? '';
  return { file, line: Number(line), message: after.trim() || whole };
}

function toOldLocation(said: string): Pick<TestFailure, 'file' | 'line' | 'message'> {
  const [, message, file, line] = said.match(oncePanicked) ?? [];
  return file === undefined
    ? { message: said.trim() || 'failed' }
    : { file, line: Number(line), message: message || 'failed' };
}
