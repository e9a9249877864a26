import { withFiles } from '../core/checks/linter.ts';
import { type CheckOutput, defineTestRunner, type TestFailure } from '../core/checks/test-runner.ts';
import { findBuildErrors, judge, reasonOf, unique, withoutReport } from '../core/readers/read-tests.ts';

export const cargoTest = defineTestRunner({
  name: 'cargo-test',
  cannotPick: () => [],
  environment: { CARGO_TERM_COLOR: 'never', CARGO_NET_OFFLINE: 'true', RUST_BACKTRACE: '0' },
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
    if (results.length === 0 && failures.length === 0) return withoutReport({ ...output, stdout: '' });
    const sum = (group: number) => results.reduce((total, result) => total + Number(result[group]), 0);
    const counted = { passed: sum(1), failed: Math.max(sum(2), failures.length), skipped: sum(3) };
    const isBroken = first && /^error: could not compile /m.test(output.stderr);
    if (isBroken)
      return judge({ ...counted, failures: [...builds, ...failures], broken: reasonOf(first, output) }, output);
    return judge({ ...counted, failures, broken: whyUnfinished(output, results.length) }, output);
  },
});

/** The names of documentation's tests have blanks, which rustdoc takes for several names. */
const isNotPicked = ({ isBuild, name }: TestFailure) => isBuild || name.includes(' ');

const summary = /^test result: (?:ok|FAILED)\. (\d{1,9}) passed; (\d{1,9}) failed; (\d{1,9}) ignored;/gm;

/** A test program that a signal or an abort ended prints how many it would run and never how they went. */
function whyUnfinished({ stdout }: CheckOutput, results: number): string | undefined {
  const begun = stdout.match(/^running \d{1,9} tests?$/gm)?.length ?? 0;
  return begun > results ? 'a test program ended before its tests did' : undefined;
}

/** Only what stands in `tests` is a program of its own; a source file's tests cannot be told from its path. */
function targetsOf(files: readonly string[]): string[] {
  const targets = files.map((file) => file.match(/^(?:\.\/)?tests\/([\w-]{1,200})(?:\.rs|\/main\.rs)$/)?.[1]);
  return targets.every((target) => target !== undefined) ? targets.map((target) => `--test=${target}`) : [];
}

const failedTest = /^test (.{1,1000}) \.\.\. FAILED$/gm;

function readFailures({ stdout }: CheckOutput): TestFailure[] {
  const said = readBlocks(stdout);
  const names = [...stdout.matchAll(failedTest)].map(([, name = '']) => name.replace(/ - should panic$/, ''));
  return unique(names).map((name) => ({ name, ...toPlace(said.get(name) ?? '') }));
}

/** What each test printed, by its name. */
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
/** As it was said before Rust 1.73: the message first, which may have many lines. */
const oncePanicked = /^thread '.{1,500}' panicked at '([\s\S]{0,2000}?)', ([^\s:']{1,500}):(\d{1,9}):\d{1,9}$/m;

function toPlace(said: string): Pick<TestFailure, 'file' | 'line' | 'message'> {
  const match = said.match(panicked);
  if (!match) return toOldPlace(said);
  const [whole, file, line] = match;
  const after = said.slice((match.index ?? 0) + whole.length).split(/^(?:note: |stack backtrace:)/m)[0] ?? '';
  return { file, line: Number(line), message: after.trim() || whole };
}

function toOldPlace(said: string): Pick<TestFailure, 'file' | 'line' | 'message'> {
  const [, message, file, line] = said.match(oncePanicked) ?? [];
  return file === undefined
    ? { message: said.trim() || 'failed' }
    : { file, line: Number(line), message: message || 'failed' };
}
